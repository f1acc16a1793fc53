#include "krylov/run.hpp"

#include "core/krylov/bicgstab_scalars.hpp"
#include "core/krylov/cg_scalars.hpp"
#include "kernels/krylov.hpp"
#include "solver/cuda.hpp"
#include "support/expected.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class CudaKrylovSystem : public testing::OnCuda {};

/// BiCGStab's eight vectors at least, CG's four, and few more.
TEST(CudaKrylovMemory, IsThatOfTheVectors) {
    constexpr std::int64_t n = 1 << 20;
    const auto vectors = []<class Scalars>(Scalars) {
        using Recurrence = cuda::DeviceRecurrence<Scalars>;
        const std::int64_t bytes = Recurrence::bytes_a_column(2 * n) - Recurrence::bytes_a_column(n);
        return static_cast<double>(bytes) / static_cast<double>(n * sizeof(typename Scalars::Value));
    };
    EXPECT_GE(vectors(BicgstabScalars<double>()), 8);
    EXPECT_LE(vectors(BicgstabScalars<double>()), 12);
    EXPECT_GE(vectors(CgScalars<float>()), 4);
    EXPECT_LE(vectors(CgScalars<float>()), 8);
}

/// The first columns of B and where their solutions go.
template <class T>
std::vector<Unknown<T>> unknowns_of(const DenseMatrix<T>& b, DenseMatrix<T>& x, std::int64_t columns) {
    std::vector<Unknown<T>> unknowns;
    const auto n = static_cast<std::size_t>(b.rows);
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j)
        unknowns.push_back({std::span(b.values).subspan(j * n, n), std::span(x.values).subspan(j * n, n)});
    return unknowns;
}

struct Step {
    KrylovMethod method;
    Kind kind;
    std::int64_t columns;
};

/// What a system keeps from one solve to the next does not show: other methods, preconditioners that need vectors of their own
/// or none, fewer columns and more than there is room for.
template <class Value>
void expect_solves_as_if_the_first(Accuracy accuracy) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const CsrMatrix<Value> in_value = convert<Value>(a.view());
    const SpmvPlan<double> plan(a, Device::cuda());
    const SpmvPlan<Value> value_plan(in_value, Device::cuda());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 5);
    const KrylovOptions options = recorded(accuracy, 60);
    KrylovSystem<double, Value> kept(plan, value_plan);
    const std::vector<Step> steps{{KrylovMethod::bicgstab, Kind::none, 3}, {KrylovMethod::bicgstab, Kind::isai, 2},
                                  {KrylovMethod::cg, Kind::jacobi, 1},     {KrylovMethod::cg, Kind::none, 5},
                                  {KrylovMethod::cg, Kind::isai, 3},       {KrylovMethod::bicgstab, Kind::jacobi, 4}};
    for (const auto& [method, kind, columns] : steps) {
        SCOPED_TRACE(std::string(to_string(method)) + ", " + std::string(to_string(kind)) + ", " + std::to_string(columns) +
                     " columns, " + std::string(to_string(accuracy)));
        const auto m = make_preconditioner<Value>(kind, in_value, accuracy, Device::cpu());
        const auto solve = [&](KrylovSystem<double, Value>& system, DenseMatrix<double>& x) {
            return system.run(method, *m, unknowns_of(b, x, columns), options, pauses_of(options));
        };
        DenseMatrix<double> found{a.rows, 5, std::vector<double>(b.values.size())};
        DenseMatrix<double> expected = found;
        KrylovSystem<double, Value> fresh(plan, value_plan);
        const auto from_kept = solve(kept, found);
        const auto from_fresh = solve(fresh, expected);
        for (std::size_t j = 0; j < from_fresh.size(); ++j) EXPECT_EQ(difference(from_kept[j], from_fresh[j]), "") << j;
        EXPECT_EQ(differences<double>(found.values, expected.values), "");
    }
}

TEST_F(CudaKrylovSystem, SolvesAsIfEachSolveWereTheFirst) {
    for (const Accuracy accuracy : all_accuracies) {
        expect_solves_as_if_the_first<double>(accuracy);
        expect_solves_as_if_the_first<float>(accuracy);
    }
}

TEST_F(CudaKrylovSystem, GoesOnAfterASolveThatWasInterrupted) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const SpmvPlan<double> plan(a, Device::cuda());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 3);
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    KrylovOptions options = recorded(Accuracy::exact);
    const auto solve = [&](KrylovSystem<double>& system, DenseMatrix<double>& x) {
        return system.run(KrylovMethod::cg, *m, unknowns_of(b, x, 3), options, pauses_of(options));
    };
    DenseMatrix<double> found{a.rows, 3, std::vector<double>(b.values.size())};
    DenseMatrix<double> expected = found;
    KrylovSystem<double> interrupted(plan, plan), fresh(plan, plan);
    options.callback = [](const Iteration& iteration) -> bool {
        if (iteration.number == 5) throw std::runtime_error("enough");
        return true;
    };
    EXPECT_THROW(solve(interrupted, found), std::runtime_error);
    options.callback = {};
    const auto second = solve(interrupted, found);
    const auto first = solve(fresh, expected);
    for (std::size_t j = 0; j < first.size(); ++j) EXPECT_EQ(difference(second[j], first[j]), "") << j;
    EXPECT_EQ(differences<double>(found.values, expected.values), "");
}

}  // namespace
}  // namespace solver
