#include "blas2/options.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace solver::blas2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class... Texts>
std::variant<Options, std::string> parse(const Texts*... texts) {
    const std::vector<const char*> arguments{"test-blas2", texts...};
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

template <class... Texts>
Options options(const Texts*... texts) {
    return std::get<Options>(parse("--device", "cpu", texts...));
}

template <class... Texts>
std::string refusal(const Texts*... texts) {
    try {
        parse(texts...);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::string> names(const std::vector<VectorWish>& wishes) {
    std::vector<std::string> names;
    for (const VectorWish& wish : wishes) names.push_back(wish.name());
    return names;
}

TEST(Options, HaveDefaults) {
    const Options defaults = options();
    EXPECT_TRUE(defaults.paths.empty());
    EXPECT_TRUE(defaults.in_single);
    EXPECT_TRUE(defaults.in_double);
    EXPECT_TRUE(defaults.keep_zeroes);
    EXPECT_FALSE(defaults.alpha.has_value());
    EXPECT_EQ(defaults.accuracies.size(), 3u);
    EXPECT_THAT(names(defaults.vectors), ElementsAre("random:1", "ones"));
    EXPECT_EQ(defaults.command, "test-blas2 --device cpu");
}

TEST(Options, AreTaken) {
    const Options wish =
        options("--path", "a.mtx", "--path", "b", "--single", "--exact", "--compensated", "--alpha", "-2", "--beta", "0.5",
                "--no-zeroes", "--x", "random:7", "--x", "ill-conditioned", "--threads", "2", "--json", "o.json");
    EXPECT_THAT(wish.paths, ElementsAre("a.mtx", "b"));
    EXPECT_TRUE(wish.in_single);
    EXPECT_FALSE(wish.in_double);
    EXPECT_THAT(wish.accuracies, ElementsAre(Accuracy::compensated, Accuracy::exact));
    EXPECT_EQ(wish.alpha, -2);
    EXPECT_EQ(wish.beta, 0.5);
    EXPECT_FALSE(wish.keep_zeroes);
    EXPECT_THAT(names(wish.vectors), ElementsAre("random:7", "ill-conditioned"));
    EXPECT_EQ(wish.threads, 2);
    EXPECT_EQ(wish.json, "o.json");
    EXPECT_EQ(options("--accuracy", "all").accuracies.size(), 3u);
    EXPECT_THAT(options("--accuracy", "fast").accuracies, ElementsAre(Accuracy::fast));
    EXPECT_TRUE(options("--single", "--double").in_double);
}

TEST(Options, AreTakenOnceHoweverOftenTheyAreGiven) {
    EXPECT_EQ(options("--accuracy", "all", "--exact").accuracies.size(), 3u);
    EXPECT_THAT(options("--exact", "--accuracy", "fast", "--accuracy", "exact").accuracies,
                ElementsAre(Accuracy::fast, Accuracy::exact));
    EXPECT_THAT(names(options("--x", "random", "--x", "random:1", "--x", "ones", "--x", "ones").vectors),
                ElementsAre("random:1", "ones"));
}

TEST(Options, GiveHelpAndVersion) {
    EXPECT_THAT(std::get<std::string>(parse("--help")), HasSubstr("--gtest_filter"));
    EXPECT_THAT(std::get<std::string>(parse("--version")), HasSubstr("test-blas2 "));
}

TEST(Options, AreRefusedWithWhatHelps) {
    EXPECT_THAT(refusal("--pth", "x"), HasSubstr("there is no option --pth; did you mean --path?"));
    EXPECT_THAT(refusal("--gtest_nonsense=1"), HasSubstr("GoogleTest has no flag --gtest_nonsense=1"));
    EXPECT_THAT(refusal("dc2_like"), HasSubstr("as in --path MATRIX"));
    EXPECT_THAT(refusal("--path"), HasSubstr("--path"));
    EXPECT_THAT(refusal("--x", "twos"), HasSubstr("--x twos: expected ones, random, random:SEED or ill-conditioned"));
    EXPECT_THAT(refusal("--accuracy", "best"), HasSubstr("best"));
    EXPECT_THAT(refusal("--device", "tpu"), HasSubstr("--device tpu: expected auto, cpu, cuda or cuda:N"));
    EXPECT_THAT(refusal("--device", "cpu", "--threads", "0"), HasSubstr("--threads 0: expected a number from 1 to 4096"));
    EXPECT_THAT(refusal("--device", "cpu", "--alpha", "nan"), HasSubstr("--alpha nan: expected a number"));
    EXPECT_THAT(refusal("--device", "cpu", "--beta", "1e300"), HasSubstr("at most 3.4e+38"));
    EXPECT_EQ(refusal("--device", "cpu", "--double", "--beta", "1e300"), "");
    EXPECT_THAT(refusal("--device", "cpu", "--judge", "mkl"), HasSubstr("--judge mkl: expected eigen or cusparse"));
    EXPECT_THAT(refusal("--device", "cpu", "--judge", "cusparse"), HasSubstr("cuSPARSE"));
}

}  // namespace
}  // namespace solver::blas2
