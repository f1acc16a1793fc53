#include "krylov/bicgstab_recurrence.hpp"
#include "krylov/cg_recurrence.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/cuda_backend.hpp"
#include "krylov/pauses.hpp"
#include "krylov/solve.hpp"
#include "solver/cuda.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"
#include "support/richardson.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class CudaStepBackend : public testing::OnCuda {};

/// What no text of a method needs to know, whichever the place.
template <template <class> class Recurrence, class Backend, class MakeProducts>
Solve<typename Backend::Wide> solve_on_backend(Backend& backend, std::size_t n, bool pair, const KrylovOptions& options,
                                               const MakeProducts& make_products) {
    using T = typename Backend::Wide;
    RecurrenceOf<Recurrence<Backend>, typename Backend::Vector> recurrence(backend);
    const Pauses pauses = pauses_of(options);
    KrylovSolve<Backend> krylov(backend, recurrence, options, pauses, 0);
    Solve<T> solve{{}, std::vector<T>(n), std::vector<T>(pair ? n : 0)};
    Task<SolveResult> task = krylov.run(solve.x);
    TaskStack stack;
    task.start(stack);
    for (stack.resume(); !stack.is_done(); stack.resume()) make_products();
    solve.result = task.result();
    backend.store(krylov.solution(), solve.x, solve.x_low);
    return solve;
}

template <template <class> class Recurrence, class T>
void expect_same_bits(const CsrMatrix<T>& a, Kind kind, bool pair, const KrylovOptions& options) {
    const std::vector<T> b = right_hand_side<T>(a);
    const SpmvPlan<T> plan(a, Device::cpu(2)), device_plan(a, Device::cuda());
    const auto m = make_preconditioner<T>(kind, a, options.accuracy, Device::cpu(2));
    CpuSystem<T, T> cpu(plan, plan);
    auto cpu_backend = cpu.backend(*m, b, pair, options.accuracy);
    const auto expected = solve_on_backend<Recurrence>(cpu_backend, b.size(), pair, options, [&] { cpu.make_products(); });
    const cuda::OwnedStream stream(device_plan.device().index());
    CudaSystem<T> cuda(device_plan, options.accuracy, 1, stream.get());
    cuda.precondition(*m);
    CudaSolverBackend<T, T> cuda_backend(cuda, 0, *cuda.products, b, pair);
    const auto found = solve_on_backend<Recurrence>(cuda_backend, b.size(), pair, options, [] {});
    EXPECT_EQ(difference(found.result, expected.result), "");
    EXPECT_EQ(differences<T>(found.x, expected.x), "");
    EXPECT_EQ(differences<T>(found.x_low, expected.x_low), "");
}

/// M = D / 2 on the host alone, for any D: a preconditioner of the caller's own.
class OnTheHost : public Preconditioner<double> {
public:
    void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / (3 + static_cast<double>(i % 2));
    }
    bool is_symmetric() const override { return true; }
};

TEST_F(CudaStepBackend, CarriesAMethodOfTwoLinesWithTheBitsOfTheProcessor) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const CsrMatrix<float> in_float = convert<float>(a.view());
    for (const bool pair : {false, true})
        for (const Kind kind : {Kind::jacobi, Kind::ilu0}) {
            SCOPED_TRACE(std::string(to_string(kind)) + (pair ? ", pair" : ""));
            expect_same_bits<RichardsonRecurrence>(a, kind, pair, recorded(Accuracy::exact, 100));
            expect_same_bits<RichardsonRecurrence>(in_float, kind, pair, recorded(Accuracy::exact, 100));
        }
}

// The kernels of whole steps and the text are two ways to the same bits.
TEST_F(CudaStepBackend, CarriesTheTextsOfMethodsThatHaveKernelsOfTheirOwn) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    for (const Kind kind : {Kind::none, Kind::jacobi, Kind::isai}) {
        SCOPED_TRACE(to_string(kind));
        expect_same_bits<BicgstabRecurrence>(a, kind, false, recorded(Accuracy::exact));
        if (kind != Kind::isai) expect_same_bits<CgRecurrence>(a, kind, false, recorded(Accuracy::exact));
    }
}

constexpr std::array step_by_step{KrylovMethod::gmres, KrylovMethod::minres, KrylovMethod::idr, KrylovMethod::bicgstab2,
                                  KrylovMethod::cocg};

template <class T>
void expect_methods_same(const CsrMatrix<T>& a, Kind kind, bool pair) {
    const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu());
    for (const KrylovMethod method : step_by_step) {
        if (method == KrylovMethod::minres && !m->is_symmetric()) continue;
        SCOPED_TRACE(std::string(to_string(method)) + ", " + std::string(to_string(kind)) + (pair ? ", pair" : ""));
        expect_bits_of_cpu<T>(a, right_hand_side<T>(a), *m, recorded(Accuracy::exact), pair, method);
    }
}

TEST_F(CudaStepBackend, GivesTheBitsOfTheProcessorInEveryMethod) {
    for (const char* name : {"poisson2d_40", "poisson2d_random_40"})
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0}) {
            SCOPED_TRACE(name);
            const CsrMatrix<double> a = generated(name);
            expect_methods_same(a, kind, false);
            expect_methods_same(convert<float>(a.view()), kind, true);
        }
}

// Steps of GMRES are started ahead, and begun anew where the one before takes a second pass.
TEST_F(CudaStepBackend, BeginsAStepAnewWhereTheOneBeforeTakesASecondPass) {
    const auto problem = mostly_of_rank_one(300);
    for (const Kind kind : {Kind::none, Kind::jacobi}) {
        const auto m = make_preconditioner<double>(kind, problem.a, Accuracy::exact, Device::cpu());
        expect_bits_of_cpu<double>(problem.a, problem.b, *m, recorded(Accuracy::exact, 70), false, KrylovMethod::gmres);
    }
}

TEST_F(CudaStepBackend, TakesAPreconditionerOfTheHost) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    for (const KrylovMethod method : step_by_step)
        expect_bits_of_cpu<double>(a, right_hand_side<double>(a), OnTheHost(), recorded(Accuracy::exact), false, method);
}

TEST_F(CudaStepBackend, SolvesInMixedPrecisionWithTheBitsOfTheProcessor) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const CsrMatrix<float> single = convert<float>(a.view());
    const auto m = make_preconditioner<float>(Kind::jacobi, single, Accuracy::exact, Device::cpu());
    const std::vector<double> b = right_hand_side<double>(a);
    for (const KrylovMethod method : step_by_step) {
        const auto solve = [&](const Device& device, std::vector<double>& x) {
            const SpmvPlan<double> plan(a, device);
            const SpmvPlan<float> plan_single(single, device);
            return krylov_solve(method, plan, plan_single, *m, b, x, recorded(Accuracy::exact));
        };
        std::vector<double> found(b.size()), expected(b.size());
        const SolveResult on_device = solve(Device::cuda(), found);
        EXPECT_EQ(difference(on_device, solve(Device::cpu(), expected)), "");
        EXPECT_EQ(differences<double>(found, expected), "");
    }
}

TEST_F(CudaStepBackend, SolvesSeveralColumnsAsTheProcessorDoes) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 7);
    for (const KrylovMethod method : step_by_step) {
        DenseMatrix<double> found{a.rows, 7, std::vector<double>(b.values.size())};
        DenseMatrix<double> expected = found;
        const auto solve = [&](const Device& device, DenseMatrix<double>& x) {
            return krylov_solve<double>(method, SpmvPlan<double>(a, device), *m, b, x, nullptr, recorded(Accuracy::exact, 80));
        };
        const auto on_device = solve(Device::cuda(), found);
        const auto on_processor = solve(Device::cpu(), expected);
        for (std::size_t j = 0; j < on_device.size(); ++j) EXPECT_EQ(difference(on_device[j], on_processor[j]), "") << j;
        EXPECT_EQ(differences<double>(found.values, expected.values), "");
    }
}

}  // namespace
}  // namespace solver
