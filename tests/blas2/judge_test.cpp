#include "blas2/judge.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace solver::blas2 {
namespace {

using ::testing::HasSubstr;

using Compute = std::function<void(Accuracy, std::span<double>)>;

/// Three elements, the true ones 1, 2, 3, and whatever the test computes; on each device something of its own.
class Made : public Experiment<double> {
public:
    explicit Made(std::function<Compute(const Device&)> on) : on_(std::move(on)) {}

    Inputs inputs() const override { return {"made"}; }
    std::string formula() const override { return "1, 2, 3"; }
    std::int64_t elements() const override { return 3; }
    std::string name_of(std::int64_t element) const override { return fmt::format("element {}", element); }
    std::int64_t terms_of(std::int64_t) const override { return 1; }
    std::vector<TrueElement<double>> truth(std::span<const double>, int) const override {
        std::vector<TrueElement<double>> elements;
        for (const double value : {1.0, 2.0, 3.0}) {
            testing::ExpectedSum<double> sum;
            sum.add_product(value, 1);
            elements.push_back(true_sum(sum, 1, 0.0));
        }
        return elements;
    }
    Subject<double> subject(SpmvKernel, const Device& device) const override { return {.compute = on_(device)}; }

private:
    std::function<Compute(const Device&)> on_;
};

Compute gives(double a, double b, double c) {
    return [=](Accuracy, std::span<double> y) { y[0] = a, y[1] = b, y[2] = c; };
}

class JudgeTest : public ::testing::Test {
protected:
    JudgeTest() {
        options_.accuracies.assign(all_accuracies.begin(), all_accuracies.end());
        source_.name = "made";
        source_.from = &built_in_matrices().front();
    }

    Verdict verdict(const std::function<Compute(const Device&)>& on, std::optional<Accuracy> accuracy) {
        Workbench<double> workbench(source_, options_);
        const Made experiment(on);
        const About about{Operation::spmv, SpmvKernel::general, accuracy, accuracy ? "" : "somebody"};
        Judge<double> judge(workbench, source_, about, experiment);
        Verdict verdict = accuracy ? judge.library() : judge.peer(experiment.subject(SpmvKernel::general, options_.device));
        return verdict;
    }
    Verdict verdict_on(const Compute& compute, std::optional<Accuracy> accuracy) {
        return verdict([&](const Device&) { return compute; }, accuracy);
    }

    Options options_;
    MatrixSource source_;
};

TEST_F(JudgeTest, PassesTheTruth) {
    for (const Accuracy accuracy : all_accuracies) {
        const Verdict found = verdict_on(gives(1, 2, 3), accuracy);
        EXPECT_TRUE(found.passed) << found.reason;
        EXPECT_TRUE(found.same_bits);
        EXPECT_EQ(found.histogram.correct(), 3);
        EXPECT_FALSE(found.worst.has_value());
        EXPECT_GT(found.seconds, 0);
        EXPECT_GT(found.cost, 0);
    }
}

TEST_F(JudgeTest, NamesTheFirstBrokenAndTheWorstElement) {
    const Verdict found = verdict_on(gives(1, 2.5, 7), Accuracy::compensated);
    EXPECT_FALSE(found.passed);
    EXPECT_THAT(found.reason, HasSubstr("2 of 3 elements break the promise; the first, element 1, is 2.5"));
    EXPECT_THAT(found.reason, HasSubstr("at most 1 ulp"));
    ASSERT_TRUE(found.worst.has_value());
    EXPECT_EQ(found.worst->name, "element 2");
    EXPECT_EQ(found.worst->computed, 7);
    EXPECT_EQ(found.worst->exact, 3);
    EXPECT_EQ(found.histogram.wrong_digits(), 1);
}

TEST_F(JudgeTest, WantsTheVeryBitsOfExact) {
    EXPECT_FALSE(verdict_on(gives(1, 2, std::nextafter(3.0, 4.0)), Accuracy::exact).passed);
}

TEST_F(JudgeTest, FindsElementsThatNobodyWrites) {
    const Verdict found = verdict_on([](Accuracy, std::span<double> y) { y[0] = 1, y[1] = 2; }, Accuracy::fast);
    EXPECT_FALSE(found.passed);
    EXPECT_EQ(found.histogram.non_finite(), 1);
}

TEST_F(JudgeTest, FindsBitsThatDifferFromRunToRun) {
    int calls = 0;
    const Verdict found = verdict_on(
        [&calls](Accuracy, std::span<double> y) {
            y[0] = 1, y[1] = 2, y[2] = ++calls % 8 == 0 ? std::nextafter(3.0, 4.0) : 3.0;
        },
        Accuracy::fast);
    EXPECT_FALSE(found.passed);
    EXPECT_FALSE(found.same_bits);
    EXPECT_THAT(found.reason, HasSubstr("run 8 gives other bits: 1 of 3 elements differ"));
}

TEST_F(JudgeTest, FindsBitsThatDependOnTheNumberOfThreads) {
    const auto on = [](const Device& device) {
        return device.threads() == 3 ? gives(1, 2, std::nextafter(3.0, 4.0)) : gives(1, 2, 3);
    };
    EXPECT_THAT(verdict(on, Accuracy::exact).reason, HasSubstr("the processor with 3 threads gives other bits"));
    EXPECT_TRUE(verdict(on, Accuracy::compensated).passed) << "which does not promise that";
}

TEST_F(JudgeTest, DoesNotTakeInfinityForOverflowWhereNoSumCanOverflow) {
    const Verdict found = verdict_on(gives(1, 2, std::numeric_limits<double>::infinity()), Accuracy::fast);
    EXPECT_FALSE(found.passed);
    EXPECT_EQ(found.overflowed, 0);
}

TEST_F(JudgeTest, AssertsNothingOfOthers) {
    const Verdict found = verdict_on(gives(1, 2, 99), std::nullopt);
    EXPECT_TRUE(found.passed);
    EXPECT_EQ(found.judged, "somebody");
    EXPECT_EQ(found.histogram.wrong_digits(), 1);
}

}  // namespace
}  // namespace solver::blas2
