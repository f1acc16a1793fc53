#include "matrices/elasticity.hpp"
#include "matrices/generators.hpp"
#include "multigrid/place.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include "support/amg.hpp"
#include "support/nearly_symmetric.hpp"
#include "support/on_cuda.hpp"
#include "support/real_matrices.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace solver::amg {
namespace {

using cuda::CudaPlace;
using cuda::DeviceCsrMatrix;

constexpr double threshold = 0.25;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

template <class T>
CsrMatrix<T> generated(const std::string& name) {
    return convert<T, double>(matrices::find_generator(name).value().make());
}

template <class T>
std::vector<T> to_host(const cuda::DeviceArray<T>& x) {
    std::vector<T> host(static_cast<std::size_t>(x.size()));
    x.copy_to(host);
    return host;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void expect_same(const CsrMatrix<T>& device, const CsrMatrix<T>& host, const char* what) {
    SCOPED_TRACE(what);
    EXPECT_EQ(device.rows, host.rows);
    EXPECT_EQ(device.columns, host.columns);
    EXPECT_TRUE(same_bits(device.row_offsets, host.row_offsets)) << "row offsets";
    EXPECT_TRUE(same_bits(device.column_indices, host.column_indices)) << "columns";
    EXPECT_TRUE(same_bits(device.values, host.values)) << "values";
}

/// Each step from what the processor made of the step before, so that a mistake shows where it is made.
template <class V, class T>
class Steps {
public:
    Steps(const CsrMatrix<T>& a, NearNullSpace space)
        : a_(a),
          there_(0, a.view()),
          space_(std::move(space)),
          is_symmetric_(here_.is_symmetric(a.view(), OwnTranspose::of_reals)) {}

    void compare() {
        EXPECT_EQ(device_.is_symmetric(there_.view(), OwnTranspose::of_reals), is_symmetric_);
        EXPECT_EQ(device_.unknowns_per_node(there_.view()), here_.unknowns_per_node(a_.view()));
        compare_diagonal();
        const CsrMatrix<T> transposed = here_.transpose(a_.view());
        expect_same(device_.to_host(device_.transpose(there_.view()).view()), transposed, "transpose");
        const Graph strong = compare_strength(transposed);
        const Aggregates aggregates = here_.aggregate(strong);
        const cuda::DeviceAggregates on_device = device_.aggregate(graph_there(strong));
        EXPECT_EQ(on_device.count, aggregates.count);
        EXPECT_TRUE(same_bits(to_host(on_device.of), aggregates.of)) << "aggregates";
        compare_transfer(strong, aggregates);
    }

private:
    static cuda::DeviceGraph graph_there(const Graph& graph) {
        return {{0, graph.offsets, "test"}, {0, graph.neighbours, "test"}};
    }

    void compare_diagonal() {
        std::int64_t failure = 0, failure_there = 0;
        const std::vector<double> diagonal = here_.template inverse_diagonal<V>(a_.view(), failure);
        const auto on_device = device_.template inverse_diagonal<V>(there_.view(), failure_there);
        EXPECT_EQ(failure_there, failure);
        EXPECT_TRUE(same_bits(to_host(on_device), diagonal)) << "inverse diagonal";
        EXPECT_EQ(device_.gershgorin_bound(there_.view(), on_device), here_.gershgorin_bound(a_.view(), diagonal));
        EXPECT_EQ(device_.power_method(there_.view(), on_device, 10, 1), here_.power_method(a_.view(), diagonal, 10, 1));
    }

    Graph compare_strength(const CsrMatrix<T>& transposed) {
        CsrMatrix<T> magnitudes = a_;
        if (!is_symmetric_) {
            magnitudes = here_.symmetric_magnitudes(a_.view(), transposed.view());
            const auto on_device = device_.symmetric_magnitudes(there_.view(), DeviceCsrMatrix<T>(0, transposed.view()).view());
            expect_same(device_.to_host(on_device.view()), magnitudes, "|A| + |A^T|");
        }
        if (const int unknowns = space_.unknowns_per_node; unknowns > 1) {
            const DeviceCsrMatrix<T> of_rows(0, magnitudes.view());
            magnitudes = here_.magnitudes_of_nodes(magnitudes.view(), unknowns);
            expect_same(device_.to_host(device_.magnitudes_of_nodes(of_rows.view(), unknowns).view()), magnitudes, "nodes");
        }
        const Graph graph = here_.strong_connections(magnitudes.view(), threshold);
        const auto on_device = device_.strong_connections(DeviceCsrMatrix<T>(0, magnitudes.view()).view(), threshold);
        EXPECT_TRUE(same_bits(to_host(on_device.offsets), graph.offsets)) << "degrees";
        EXPECT_TRUE(same_bits(to_host(on_device.neighbours), graph.neighbours)) << "neighbours";
        return graph;
    }

    void compare_transfer(const Graph& strong, const Aggregates& aggregates) {
        const TentativeProlongator tentative = here_.tentative(aggregates, space_);
        const cuda::DeviceTentative on_device =
            device_.tentative({{0, aggregates.of, "test"}, aggregates.count},
                              device_.space(space_.unknowns_per_node, space_.dimension, space_.vectors));
        expect_same(device_.to_host(device_.template matrix_of<V>(on_device).view()), here_.template matrix_of<V>(tentative),
                    "T");
        EXPECT_TRUE(same_bits(to_host(on_device.space.vectors), tentative.coarse_space().vectors)) << "coarse vectors";
        const CsrMatrix<V> p = here_.template smoothed_prolongator<V>(a_.view(), strong, tentative);
        const auto p_there = device_.template smoothed_prolongator<V>(there_.view(), graph_there(strong), on_device);
        expect_same(device_.to_host(p_there.view()), p, "P");
        compare_product(here_.transpose(p.view()), p, is_symmetric_);
        compare_product(here_.transpose(here_.template matrix_of<V>(tentative).view()), p, false);
    }

    void compare_product(const CsrMatrix<V>& r, const CsrMatrix<V>& p, bool has_symmetric_pattern) {
        const DeviceCsrMatrix<V> r_there(0, r.view()), p_there(0, p.view());
        CsrMatrix<double> product = *here_.galerkin_product(r.view(), a_.view(), p.view(), no_limit);
        auto on_device = device_.galerkin_product(r_there.view(), there_.view(), p_there.view(), product.nonzeros());
        ASSERT_TRUE(on_device.has_value());
        expect_same(device_.to_host(on_device->view()), product, "R A P");
        EXPECT_FALSE(
            device_.galerkin_product(r_there.view(), there_.view(), p_there.view(), product.nonzeros() - 1).has_value());
        if (!has_symmetric_pattern) return;
        here_.mirror_upper_triangle(product);
        device_.mirror_upper_triangle(*on_device);
        expect_same(device_.to_host(on_device->view()), product, "R A P mirrored");
    }

    HostPlace here_{Device::cpu(2)};
    CudaPlace device_{0};
    CsrMatrix<T> a_;
    DeviceCsrMatrix<T> there_;
    NearNullSpace space_;
    bool is_symmetric_;
};

template <class V, class T>
void compare_levels(const CsrMatrix<T>& a, const PreconditionerOptions& options = {}) {
    const DeviceCsrMatrix<T> there(0, a.view());
    const Hierarchy<V> host = make_hierarchy<V>(a.view(), options, Device::cpu(2));
    const DeviceHierarchy<V> device = make_hierarchy<V>(there.view(), options);
    const CudaPlace place(0);
    EXPECT_EQ(device.is_symmetric, host.is_symmetric);
    ASSERT_EQ(device.levels.size(), host.levels.size());
    const Hierarchy<V> copy = copy_to_host(device, place);
    for (std::size_t l = 0; l < host.levels.size(); ++l) {
        SCOPED_TRACE("level " + std::to_string(l + 1));
        expect_same(copy.levels[l].a, host.levels[l].a, "A");
        expect_same(copy.levels[l].prolongation, host.levels[l].prolongation, "P");
        expect_same(copy.levels[l].restriction, host.levels[l].restriction, "R");
        EXPECT_TRUE(same_bits(copy.levels[l].inverse_diagonal, host.levels[l].inverse_diagonal)) << "diagonal";
        ASSERT_EQ(copy.levels[l].steps.size(), host.levels[l].steps.size());
        for (std::size_t s = 0; s < host.levels[l].steps.size(); ++s) {
            EXPECT_EQ(copy.levels[l].steps[s].alpha, host.levels[l].steps[s].alpha);
            EXPECT_EQ(copy.levels[l].steps[s].beta, host.levels[l].steps[s].beta);
        }
    }
    EXPECT_EQ(device.hash(place), host.hash(HostPlace(Device::cpu(2))));
    EXPECT_EQ(device.entries(), host.entries());
}

class CudaLevels : public solver::testing::OnCuda {};

constexpr const char* scalar_problems[] = {
    "poisson2d_60",         "poisson3d_20",       "anisotropic_50",          "anisotropic_rotated_40",
    "jumping_random_16",    "stencil27_16",       "convection_diffusion_60", "convection_strong_12",
    "graph_laplacian_3000", "poisson3d_random_12"};

TEST_F(CudaLevels, MakesEachStepWithTheBitsOfTheProcessor) {
    for (const char* name : scalar_problems) {
        SCOPED_TRACE(name);
        Steps<float, double>(generated<double>(name), {}).compare();
        Steps<float, float>(generated<float>(name), {}).compare();
        Steps<double, double>(generated<double>(name), {}).compare();
    }
}

TEST_F(CudaLevels, MakesEachStepOfNodesWithTheBitsOfTheProcessor) {
    constexpr std::int64_t n = 24;
    const CsrMatrix<double> a = matrices::elasticity2d(n);
    Steps<float, double>(a, {.unknowns_per_node = 2}).compare();
    Steps<float, double>(a, {2, 3, matrices::elasticity2d_rigid_body_modes(n)}).compare();
    Steps<float, float>(convert<float>(a.view()), {.unknowns_per_node = 2}).compare();
    std::mt19937_64 random(1);
    const CsrMatrix<double> unsymmetric = testing::random_matrix(random, 300, 300, 0.02);
    Steps<double, double>(unsymmetric, {.unknowns_per_node = 3}).compare();
    std::vector<double> dependent(2 * 300, 1.0);  // the second vector is the first
    Steps<double, double>(unsymmetric, {3, 2, dependent}).compare();
}

/// A few hubs: rows of P that stay T's, rows of products of all lengths.
TEST_F(CudaLevels, MakesLongRowsWithTheBitsOfTheProcessor) {
    std::mt19937_64 random(2);
    std::vector<Entry<double>> entries;
    constexpr std::int32_t n = 5000;
    std::vector<double> degree(n, 1.0);
    for (int e = 0; e < 12000; ++e) {
        const auto i = static_cast<std::int32_t>(random() % (e % 3 == 0 ? 4 : n)), j = static_cast<std::int32_t>(random() % n);
        if (i == j) continue;
        const double weight = static_cast<double>(1 + random() % 1000);
        entries.push_back({i, j, -weight});
        entries.push_back({j, i, -weight});
        degree[i] += weight;
        degree[j] += weight;
    }
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, degree[i]});
    const CsrMatrix<double> a = csr_from_entries<double>(n, n, entries);
    Steps<float, double>(a, {}).compare();
    compare_levels<float>(a);
}

TEST_F(CudaLevels, MakesHierarchiesWithTheBitsOfTheProcessor) {
    for (const char* name : {"poisson2d_10", "poisson2d_150", "poisson3d_40", "anisotropic_150", "jumping_random_30",
                             "convection_diffusion_150", "elasticity2d_60", "stencil27_30", "graph_laplacian_30000"}) {
        SCOPED_TRACE(name);
        compare_levels<float>(generated<double>(name));
        compare_levels<double>(generated<double>(name));
        compare_levels<float>(generated<float>(name));
    }
    compare_levels<float>(solver::testing::scaled_from_both_sides(generated<double>("poisson2d_150")));
    compare_levels<float>(solver::testing::scaled_from_both_sides(generated<float>("poisson3d_40")));
    constexpr std::int64_t n = 60;
    const std::vector<double> modes = matrices::elasticity2d_rigid_body_modes(n);
    compare_levels<float>(matrices::elasticity2d(n), {.amg = {.unknowns_per_node = 2, .near_null_space = modes}});
}

TEST_F(CudaLevels, MakesHierarchiesOfRealMatricesWithTheBitsOfTheProcessor) {
    int found = 0;
    for (const char* name :
         {"494_bus",  "662_bus",  "1138_bus", "G3_circuit", "add20",    "bcsstk14", "bcsstk16", "bcsstk18", "cage5", "can_24",
          "cavity14", "e05r0500", "epb0",     "fidap036",   "gr_30_30", "jagmesh7", "lund_a",   "memplus",  "nos1",  "nos7"}) {
        const auto a = solver::testing::real_matrix(name);
        if (!a) continue;
        ++found;
        SCOPED_TRACE(name);
        std::string here, there;
        try {
            make_hierarchy<float>(a->view(), {}, Device::cpu(2));
        } catch (const InvalidArgument& error) {
            here = error.what();
        }
        if (here.empty()) {
            compare_levels<float>(*a);
            continue;
        }
        try {
            make_hierarchy<float>(DeviceCsrMatrix<double>(0, a->view()).view(), {});
        } catch (const InvalidArgument& error) {
            there = error.what();
        }
        EXPECT_EQ(there, here);
    }
    if (found == 0) GTEST_SKIP() << "no real matrices";
}

TEST_F(CudaLevels, RefusesInTheWordsOfTheProcessor) {
    CsrMatrix<double> a = generated<double>("poisson2d_30");
    const auto refusal = [&](const auto& make) -> std::string {
        try {
            make();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const auto expect_same_refusal = [&](const PreconditionerOptions& options) {
        const std::string here = refusal([&] { make_hierarchy<float>(a.view(), options, Device::cpu(2)); });
        const DeviceCsrMatrix<double> there(0, a.view());
        EXPECT_NE(here, "");
        EXPECT_EQ(refusal([&] { make_hierarchy<float>(there.view(), options); }), here);
    };
    expect_same_refusal({.memory_limit = 1000});
    expect_same_refusal({.amg = {.unknowns_per_node = 7}});
    a.values[a.row_offsets[17]] = std::numeric_limits<double>::infinity();
    expect_same_refusal({});
    a = generated<double>("poisson2d_30");
    for (const std::int64_t row : {500, 400})
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (a.column_indices[k] == row) a.values[k] = 0;
    expect_same_refusal({});
}

/// From a plan whose matrix lies on the device; unsorted rows go by way of the host.
// Promise: preconditioner.hpp, "Of the matrix that a plan has"
// Promise: preconditioner.hpp, "Where it lies on a CUDA device with sorted rows"
TEST_F(CudaLevels, AreMadeOfAPlansMatrix) {
    for (const char* name : {"poisson3d_20", "convection_diffusion_60"}) {
        SCOPED_TRACE(name);
        CsrMatrix<double> a = generated<double>(name);
        const auto expected = make_preconditioner<double>(PreconditionerKind::amg, a, Accuracy::exact, Device::cpu(2));
        const std::vector<double> r(static_cast<std::size_t>(a.rows), 1.0);
        std::vector<double> z(r.size()), z_there(r.size());
        expected->apply(r, z, Accuracy::exact);
        for (const bool is_sorted : {true, false}) {
            if (!is_sorted)
                for (std::int64_t i = 0; i < a.rows; ++i) {
                    std::reverse(a.column_indices.begin() + a.row_offsets[i], a.column_indices.begin() + a.row_offsets[i + 1]);
                    std::reverse(a.values.begin() + a.row_offsets[i], a.values.begin() + a.row_offsets[i + 1]);
                }
            const SpmvPlan<double> plan(a, Device::cuda());
            const auto m = make_preconditioner<double>(PreconditionerKind::amg, plan, Accuracy::exact);
            EXPECT_EQ(m->factor_hash(), expected->factor_hash());
            EXPECT_EQ(m->factor_entries(), expected->factor_entries());
            EXPECT_EQ(m->is_symmetric(), expected->is_symmetric());
            const auto on_device = m->on_device(0);
            const cuda::DeviceArray<double> r_there(0, r, "test"), result(0, a.rows, "test");
            on_device->apply(r_there.data(), result.data(), Accuracy::exact, nullptr);
            EXPECT_TRUE(same_bits(to_host(result), z));
            m->apply(r, z_there, Accuracy::exact);  // on the host, from a copy of the levels
            EXPECT_TRUE(same_bits(z_there, z));
        }
    }
}

}  // namespace
}  // namespace solver::amg
