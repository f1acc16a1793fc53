#include "trial.hpp"

#include "judge.hpp"
#include "peers.hpp"
#include "products.hpp"
#include "solver/error.hpp"
#include "workbench.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
    }
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

    /// Values beyond the range of float leave out single precision alone; else it is an error, which is told once.
    void refuse(const std::string& reason) {
        const bool is_error = !(std::is_same_v<T, float> && session_.options.in_double);
        session_.report.leave_out({fmt::format("{} ({})", source_.name, precision_name<T>), reason, is_error});
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
