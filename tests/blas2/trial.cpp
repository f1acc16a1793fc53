#include "trial.hpp"

#include "peers.hpp"
#include "products.hpp"
#include "solver/error.hpp"
#include "verdict.hpp"
#include "workbench.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace solver::blas2 {
namespace {

/// The matrix that tests are at work on; they come matrix by matrix and precision by precision.
struct Session {
    const Options& options;
    Report& report;
    const MatrixSource* source = nullptr;
    std::unique_ptr<Workbench<float>> in_single{};
    std::unique_ptr<Workbench<double>> in_double{};
    std::string refusal{};  ///< why it cannot be read in the precision tried last

    template <class T>
    std::unique_ptr<Workbench<T>>& workbench() {
        if constexpr (std::is_same_v<T, float>)
            return in_single;
        else
            return in_double;
    }

    void clear() {
        in_single.reset();
        in_double.reset();
        refusal.clear();
    }
};

/// What a test is about. Without an accuracy it is about a peer.
struct About {
    Operation operation = Operation::spmv;
    SpmvKernel kernel = SpmvKernel::automatic;
    std::optional<Accuracy> accuracy;
    std::string peer;
};

template <class T>
constexpr const char* precision_name = std::is_same_v<T, float> ? "single" : "double";

/// Elements that nobody has written are found: a NaN that no operation returns.
template <class T>
std::vector<T> unwritten(std::int64_t elements) {
    const T value = std::is_same_v<T, float> ? static_cast<T>(std::nanf("77")) : static_cast<T>(std::nan("77"));
    return std::vector<T>(static_cast<std::size_t>(elements), value);
}

template <class T>
std::vector<T> result_of(const Subject<T>& subject, Accuracy accuracy, std::int64_t elements) {
    std::vector<T> result = unwritten<T>(elements);
    subject.compute(accuracy, result);
    return result;
}

template <class T>
class Judge {
public:
    Judge(Workbench<T>& workbench, const MatrixSource& source, const About& about, const Experiment<T>& experiment)
        : workbench_(workbench), options_(workbench.options()), about_(about), experiment_(experiment) {
        const CsrMatrix<T>& a = workbench.matrix();
        verdict_.matrix = source.name;
        verdict_.rows = a.rows;
        verdict_.columns = a.columns;
        verdict_.nonzeros = a.nonzeros();
        verdict_.operation = about.operation;
        verdict_.inputs = experiment.inputs();
        verdict_.formula = experiment.formula();
        verdict_.precision = precision_name<T>;
        verdict_.accuracy = about.accuracy;
        verdict_.device = to_string(options_.device);
    }

    Verdict library() {
        const Accuracy accuracy = *about_.accuracy;
        if (has_kernels(about_.operation)) verdict_.kernel = to_string(about_.kernel);
        const Subject<T> subject = experiment_.subject(about_.kernel, options_.device);
        found_ = result_of(subject, accuracy, experiment_.elements());
        look_at_errors();
        repeat(subject, accuracy);
        if (accuracy == Accuracy::exact) compute_elsewhere();
        const Timing timing = workbench_.timing(experiment_, about_.kernel, accuracy);
        verdict_.seconds = timing.seconds;
        verdict_.cost = timing.cost;
        return std::move(verdict_);
    }

    Verdict peer(const Subject<T>& subject) {
        verdict_.judged = about_.peer;
        found_ = result_of(subject, Accuracy::fast, experiment_.elements());
        look_at_errors();
        repeat(subject, Accuracy::fast);
        std::vector<T> scratch(found_.size());
        const Subject<T> ours = experiment_.subject(SpmvKernel::automatic, options_.device);
        const std::function<double()> turns[] = {turn_of<T>(ours, Accuracy::fast, scratch),
                                                 turn_of<T>(subject, Accuracy::fast, scratch)};
        const Timing timing = compare(turns)[1];
        verdict_.seconds = timing.seconds;
        verdict_.cost = timing.cost;
        return std::move(verdict_);
    }

private:
    static constexpr int repetitions = 10;

    void look_at_errors() {
        std::vector<TrueElement<T>> own;
        if (experiment_.truth_depends_on_result()) own = experiment_.truth(found_, options_.threads);
        const std::vector<TrueElement<T>>& truth = own.empty() ? workbench_.truth(experiment_) : own;
        const Errors errors = judge<T>(truth, found_, about_.accuracy);
        verdict_.histogram = errors.histogram;
        verdict_.largest_ulps = errors.largest_ulps;
        if (errors.worst >= 0) {
            const TrueElement<T>& worst = truth[static_cast<std::size_t>(errors.worst)];
            verdict_.worst = Worst{.element = errors.worst,
                                   .name = experiment_.name_of(errors.worst),
                                   .terms = experiment_.terms_of(errors.worst),
                                   .condition = worst.condition(),
                                   .computed = found_[static_cast<std::size_t>(errors.worst)],
                                   .exact = worst.rounded};
        }
        if (errors.broken == 0) return;
        const auto first = static_cast<std::size_t>(errors.first_broken);
        fail(fmt::format("{} of {} elements break the promise; the first, {}, is {} ({:a}), {:.3g} ulp off, instead of {}",
                         errors.broken, found_.size(), experiment_.name_of(errors.first_broken), found_[first], found_[first],
                         truth[first].ulps(found_[first]), promise_of(truth[first], *about_.accuracy)));
    }

    void repeat(const Subject<T>& subject, Accuracy accuracy) {
        for (int i = 1; i < repetitions; ++i)
            if (!agrees(result_of(subject, accuracy, experiment_.elements()), fmt::format("run {}", i + 1))) return;
    }

    /// exact gives the bits of the processor, whatever the number of threads.
    void compute_elsewhere() {
        for (int threads = 1; threads <= 3; ++threads) {
            const Device other = Device::cpu(threads);
            const Subject<T> subject = experiment_.subject(about_.kernel, other);
            const std::vector<T> result = result_of(subject, Accuracy::exact, experiment_.elements());
            if (!agrees(result, fmt::format("the processor with {} thread{}", threads, threads == 1 ? "" : "s"))) return;
        }
    }

    bool agrees(const std::vector<T>& result, const std::string& whose) {
        const std::string difference = testing::differences<T>(result, found_);
        if (difference.empty()) return true;
        verdict_.same_bits = false;
        if (about_.accuracy) fail(fmt::format("{} gives other bits: {}", whose, difference));
        return false;
    }

    void fail(const std::string& reason) {
        verdict_.passed = false;
        verdict_.reason += (verdict_.reason.empty() ? "" : "; ") + reason;
    }

    Workbench<T>& workbench_;
    const Options& options_;
    const About& about_;
    const Experiment<T>& experiment_;
    Verdict verdict_;
    std::vector<T> found_;
};

template <class T>
class Trial : public ::testing::Test {
public:
    Trial(Session& session, const MatrixSource& source, About about)
        : session_(session), source_(source), about_(std::move(about)) {}

    void TestBody() override {
        if (!prepare()) return;
        Workbench<T>& workbench = *session_.workbench<T>();
        for (const auto& experiment : workbench.experiments(about_.operation)) {
            Judge<T> judge(workbench, source_, about_, *experiment);
            if (about_.accuracy)
                deliver(judge.library());
            else if (experiment->inputs().alpha == 1 && experiment->inputs().beta == 0)
                deliver(judge.peer(peer_subject(dynamic_cast<const SpmvExperiment<T>&>(*experiment))));
        }
    }

private:
    /// Whether the matrix could be read.
    bool prepare() {
        if (session_.source != &source_) {
            session_.clear();
            session_.source = &source_;
        }
        if (session_.workbench<T>()) return true;
        session_.clear();
        try {
            session_.workbench<T>() = std::make_unique<Workbench<T>>(source_, session_.options);
            return true;
        } catch (const FileError& error) {
            refuse(error.what());
            return false;
        }
    }

    /// A matrix that somebody named has to be readable, in one precision at least.
    void refuse(const std::string& reason) {
        session_.report.leave_out({fmt::format("{} ({})", source_.name, precision_name<T>), reason});
        const bool may_be_left_out = !source_.is_named || (std::is_same_v<T, float> && session_.options.in_double);
        if (!may_be_left_out) FAIL() << reason;
        GTEST_SKIP() << reason;
    }

    Subject<T> peer_subject(const SpmvExperiment<T>& experiment) const {
        return make_peer<T>(about_.peer, experiment.matrix(), experiment.x(), session_.options.device, session_.options.threads)
            .subject;
    }

    void deliver(const Verdict& verdict) {
        session_.report.add(verdict);
        if (!verdict.passed)
            ADD_FAILURE() << fmt::format("{}, {}, x {}: {}", verdict.matrix, verdict.formula, verdict.inputs.x, verdict.reason);
    }

    Session& session_;
    const MatrixSource& source_;
    About about_;
};

template <class T>
void register_trial(const std::shared_ptr<Session>& session, const MatrixSource& source, const About& about) {
    std::string name = fmt::format("{}/{}", to_string(about.operation), precision_name<T>);
    if (has_kernels(about.operation) && about.accuracy) name += fmt::format("/{}", to_string(about.kernel));
    name += '/' + (about.accuracy ? std::string(to_string(*about.accuracy)) : about.peer);
    ::testing::RegisterTest(source.suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [session, &source, about]() -> ::testing::Test* { return new Trial<T>(*session, source, about); });
}

template <class T>
void register_trials(const std::shared_ptr<Session>& session, const MatrixSource& source) {
    const Options& options = session->options;
    for (const Operation operation : all_operations) {
        if (operation == Operation::triangular_solve && !source.is_square) continue;
        for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
            if (!has_kernels(operation) && kernel != SpmvKernel::general) continue;
            for (const Accuracy accuracy : options.accuracies)
                register_trial<T>(session, source, {operation, kernel, accuracy, ""});
        }
        for (const Judged judged : options.judged)
            for (const std::string& peer : peer_names(judged))
                if (operation == Operation::spmv)
                    register_trial<T>(session, source, {operation, SpmvKernel::automatic, std::nullopt, peer});
    }
}

}  // namespace

void register_trials(const MatrixSources& sources, const Options& options, Report& report) {
    const auto session = std::make_shared<Session>(Session{options, report});
    for (const MatrixSource& source : sources.matrices) {
        if (options.in_double) register_trials<double>(session, source);
        if (options.in_single) register_trials<float>(session, source);
    }
}

}  // namespace solver::blas2
