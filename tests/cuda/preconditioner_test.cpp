#include "kernels/preconditioner.hpp"

#include "matrices/generators.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/preconditioner.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/complex_numbers.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"
#include "support/real_matrices.hpp"
#include "support/values.hpp"

#include <algorithm>
#include <vector>

namespace solver {
namespace {

using testing::Random;
using testing::random_vector;

constexpr PreconditionerKind kinds[] = {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0,
                                        PreconditionerKind::isai, PreconditionerKind::ilut,   PreconditionerKind::klu,
                                        PreconditionerKind::amg};

template <class T>
class CudaPreconditioner : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaPreconditioner, ValueTypes);

template <class T>
std::vector<T> applied(cuda::DevicePreconditioner<T>& m, std::span<const T> r, Accuracy accuracy, cuda::Gate gate = {}) {
    const cuda::DeviceArray<T> on_device_r(0, r, "test");
    const cuda::DeviceArray<T> z(0, std::vector<T>(r.size(), T(7)), "test");
    cuda::apply_if_open(m, on_device_r.data(), z.data(), accuracy, nullptr, gate);
    std::vector<T> result(r.size());
    z.copy_to(result);
    return result;
}

/// "" or why factors cannot be had.
template <class T>
std::string expect_bits_of_cpu(PreconditionerKind kind, const CsrView<T>& a) {
    Random random(1);
    std::unique_ptr<Preconditioner<T>> on_host;
    try {
        on_host = make_preconditioner(kind, a, Accuracy::exact, Device::cpu(), {.fill_factor = 3});
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    const auto for_device = make_preconditioner(kind, a, Accuracy::exact, Device::cuda(), {.fill_factor = 3});
    const std::unique_ptr<cuda::DevicePreconditioner<T>> on_device = for_device->on_device(0);
    EXPECT_NE(on_device, nullptr);
    EXPECT_EQ(on_device->is_identity(), kind == PreconditionerKind::none);
    EXPECT_EQ(on_device->diagonal() != nullptr, kind == PreconditionerKind::jacobi);
    for (int i = 0; i < 2; ++i) {
        const std::vector<T> r = random_vector<T>(random, a.rows);
        std::vector<T> z(r.size());
        on_host->apply(r, z, Accuracy::exact);
        EXPECT_EQ(testing::differences<T>(applied<T>(*on_device, r, Accuracy::exact), z), "");
        std::vector<T> by_all(r.size());
        for_device->apply(r, by_all, Accuracy::exact);
        EXPECT_EQ(testing::differences<T>(by_all, z), "");
        for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
            EXPECT_EQ(testing::differences<T>(applied<T>(*on_device, r, accuracy), applied<T>(*on_device, r, accuracy)), "");
    }
    return "";
}

// Promise: preconditioner.hpp, "A copy of the preconditioner in the memory"
// Promise: preconditioner.hpp, "What the device uses is made by on_device()"
// Promise: cuda/preconditioner.hpp, "z = M^-1 r in the accuracy asked for"
// Promise: cuda/preconditioner.hpp, "The diagonal of M in the device's memory"
// Promise: cuda/preconditioner.hpp, "M = I"
// Promise: cuda/preconditioner.hpp, "M = diag(diagonal): a division."
// Promise: cuda/preconditioner.hpp, "M = L U: two triangular solves"
// Promise: cuda/preconditioner.hpp, "M^-1 = second first: two products"
// Promise: cuda/preconditioner.hpp, "z_{column_order[k]} = 2^column_exponents[k]"
// Promise: preconditioner.hpp, "For a CUDA device the factors are made on the host"
// Promise: cuda/preconditioner.hpp, "L's diagonal is 1 and not stored"
// Promise: reproducibility.md, "preconditioners ILUT and KLU"
TYPED_TEST(CudaPreconditioner, GivesTheBitsOfTheCpuForGeneratedMatrices) {
    using T = TypeParam;
    for (const char* name : {"poisson2d_100", "poisson3d_20", "stencil27_12", "convection_diffusion_60"}) {
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        for (const PreconditionerKind kind : kinds) {
            SCOPED_TRACE(::testing::Message() << name << ", " << to_string(kind));
            EXPECT_EQ(expect_bits_of_cpu<T>(kind, a), "");
        }
    }
}

/// Of velocities, and of pressures.
// Promise: cuda/preconditioner.hpp, "Block triangular, M_1 and M_2 on the diagonal"
TYPED_TEST(CudaPreconditioner, GivesTheBitsOfTheCpuForSaddlePoints) {
    using T = TypeParam;
    for (const char* name : {"stokes2d_5", "stokes2d_60"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        EXPECT_EQ(expect_bits_of_cpu<T>(PreconditionerKind::schur, a), "");
    }
}

TYPED_TEST(CudaPreconditioner, GivesTheBitsOfTheCpuForDc2Like) {
    using T = TypeParam;
    const CsrMatrix<T> a = convert<T, double>(matrices::find_generator("dc2_like").value().make());
    for (const PreconditionerKind kind : {PreconditionerKind::jacobi, PreconditionerKind::ilut, PreconditionerKind::klu}) {
        SCOPED_TRACE(to_string(kind));
        EXPECT_EQ(expect_bits_of_cpu<T>(kind, a), "");
    }
}

TYPED_TEST(CudaPreconditioner, GivesTheBitsOfTheCpuForRealMatrices) {
    using T = TypeParam;
    for (const char* name : {"memplus", "add20", "sherman5", "west0479", "bcsstk14", "orsirr_1", "rajat01", "cavity14"}) {
        const auto found = testing::real_matrix(name);
        if (!found) continue;
        const CsrMatrix<T> a = convert<T, double>(*found);
        for (const PreconditionerKind kind : kinds) {
            SCOPED_TRACE(::testing::Message() << name << ", " << to_string(kind));
            expect_bits_of_cpu<T>(kind, a);  // some cannot be factorised
        }
    }
}

/// Ties, vanishing numerators and extreme exponents among them.
// Promise: cuda/preconditioner.hpp, "M = diag(diagonal) of complex numbers"
TYPED_TEST(CudaPreconditioner, DividesByComplexDiagonalsWithTheBitsOfTheCpu) {
    using T = TypeParam;
    Random random(3);
    std::vector<std::complex<T>> diagonal, r;
    for (const int exponents : {1, 20, std::is_same_v<T, double> ? 1020 : 120})
        for (int i = 0; i < 20'000; ++i) {
            diagonal.push_back(testing::complex_number<T>(random, exponents));
            if (diagonal.back() == std::complex<T>(0) || i % 50 == 0) diagonal.back() = {2, -2};
            r.push_back(i % 51 == 0 ? diagonal.back() : testing::complex_number<T>(random, exponents));
        }
    CsrMatrix<std::complex<T>> a{std::ssize(diagonal), std::ssize(diagonal), {0}, {}, diagonal};
    for (std::int32_t i = 0; i < a.rows; ++i) {
        a.column_indices.push_back(i);
        a.row_offsets.push_back(i + 1);
    }
    const CsrMatrix<T> parts = real_form(a.view());
    const auto m =
        make_preconditioner<T>(PreconditionerKind::jacobi, parts, Accuracy::exact, Device::cpu(), {.complex_numbers = true});
    const std::unique_ptr<cuda::DevicePreconditioner<T>> on_device = m->on_device(0);
    EXPECT_EQ(on_device->diagonal(), nullptr);
    const std::span<const T> r_parts = real_view(std::span<const std::complex<T>>(r));
    std::vector<T> z(r_parts.size());
    m->apply(r_parts, z, Accuracy::exact);
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::exact})
        EXPECT_EQ(testing::differences<T>(applied<T>(*on_device, r_parts, accuracy), z), "");
}

TYPED_TEST(CudaPreconditioner, DoesNothingWhereItsGateIsClosed) {
    using T = TypeParam;
    Random random(2);
    const CsrMatrix<T> a = convert<T, double>(matrices::find_generator("poisson2d_60").value().make());
    const std::vector<T> r = random_vector<T>(random, a.rows);
    const cuda::DeviceArray<std::int32_t> stage(0, std::vector<std::int32_t>{5}, "test");
    for (const PreconditionerKind kind : kinds) {
        SCOPED_TRACE(to_string(kind));
        const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu())->on_device(0);
        const std::vector<T> right = applied<T>(*m, r, Accuracy::exact);
        const std::vector<T> untouched(r.size(), T(7));
        EXPECT_EQ(testing::differences<T>(applied<T>(*m, r, Accuracy::exact, {stage.data(), ~(1u << 5)}), untouched), "");
        EXPECT_EQ(testing::differences<T>(applied<T>(*m, r, Accuracy::exact, {stage.data(), 1u << 5}), right), "");
    }
}

// Promise: preconditioner.hpp, "Null where there is no such thing"
TYPED_TEST(CudaPreconditioner, OfAUserIsNotOnTheDevice) {
    using T = TypeParam;
    class Own final : public Preconditioner<T> {
        void apply(std::span<const T>, std::span<T>, Accuracy) const override {}
    };
    EXPECT_EQ(Own().on_device(0), nullptr);
}

}  // namespace
}  // namespace solver
