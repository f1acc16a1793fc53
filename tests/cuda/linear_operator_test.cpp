#include "solver/cuda/linear_operator.hpp"

#include "solver/complex.hpp"
#include "solver/cuda.hpp"
#include "solver/error.hpp"
#include "solver/linear_operator.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class CudaLinearOperator : public testing::OnCuda {};

/// Exact products with a matrix on the processor, as a function.
template <class T>
class ProductsHere : public LinearOperator<T> {
public:
    explicit ProductsHere(const CsrMatrix<T>& a) : plan_(a, Device::cpu(2)) {}

    std::int64_t rows() const override { return plan_.rows(); }
    void apply(std::span<const T> x, std::span<T> y) const override { plan_.multiply(1, x, 0, y, Accuracy::exact); }

private:
    SpmvPlan<T> plan_;
};

/// Exact products of A on a device: the bits of ProductsHere.
template <class T>
class ProductsThere : public cuda::LinearOperator<T> {
public:
    explicit ProductsThere(const CsrMatrix<T>& a) : a_(0, a.view()), plan_(a_.view(), SpmvKernel::automatic) {}

    std::int64_t rows() const override { return a_.view().rows; }
    void apply(const T* x, T* y, cuda::Stream stream) const override {
        ++products;
        plan_.multiply({.x = x, .y = y}, Accuracy::exact, stream);
    }

    mutable std::int64_t products = 0;

private:
    cuda::DeviceCsrMatrix<T> a_;
    cuda::SpmvPlan<T> plan_;
};

/// Where b and x lie.
enum class Place { host, device };

template <class T>
Solve<T> solve_there(KrylovMethod method, const cuda::LinearOperator<T>& a, const Preconditioner<T>* m, const std::vector<T>& b,
                     const KrylovOptions& options, Place place = Place::device, cuda::Stream stream = nullptr,
                     std::vector<T> guess = {}) {
    Solve<T> solve{{}, guess.empty() ? std::vector<T>(b.size()) : guess, {}};
    if (place == Place::host) {
        solve.result = cuda::krylov_solve<T>(method, a, m, b, solve.x, options, Device::cuda(), stream);
        return solve;
    }
    const cuda::DeviceArray<T> b_there(0, b, "b", stream), x_there(0, solve.x, "x", stream);
    const std::span<const T> right(b_there.data(), b.size());
    solve.result =
        cuda::krylov_solve<T>(method, a, m, right, std::span(x_there.data(), b.size()), options, Device::cuda(), stream);
    x_there.copy_to(solve.x);
    return solve;
}

template <class T>
Solve<T> solve_here(KrylovMethod method, const CsrMatrix<T>& a, const Preconditioner<T>* m, const std::vector<T>& b,
                    const KrylovOptions& options, std::vector<T> guess = {}) {
    Solve<T> solve{{}, guess.empty() ? std::vector<T>(b.size()) : guess, {}};
    solve.result = krylov_solve<T>(method, ProductsHere<T>(a), m, b, solve.x, options, Device::cpu(2));
    return solve;
}

template <class T>
void expect_same(const Solve<T>& found, const Solve<T>& expected) {
    EXPECT_EQ(difference(found.result, expected.result), "");
    EXPECT_EQ(differences<T>(found.x, expected.x), "");
}

template <class T>
void expect_bits_of_the_processor(const CsrMatrix<T>& a, Kind kind) {
    const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu());
    const std::vector<T> b = right_hand_side<T>(a);
    const ProductsThere<T> there(a);
    const cuda::OwnedStream stream(0);
    for (const KrylovMethod method : all_krylov_methods) {
        if (method == KrylovMethod::minres && !m->is_symmetric()) continue;
        SCOPED_TRACE(std::string(to_string(method)) + ", " + std::string(to_string(kind)));
        const KrylovOptions options = recorded(Accuracy::exact, 120);
        const Preconditioner<T>* const given = kind == Kind::none ? nullptr : m.get();
        const Solve<T> expected = solve_here(method, a, given, b, options);
        expect_same(solve_there(method, there, given, b, options), expected);
        expect_same(solve_there(method, there, given, b, options, Place::host, stream.get()), expected);
    }
}

// Promise: cuda/linear_operator.hpp, "Solves A x = b by a Krylov method as krylov_solve.hpp says"
// Promise: cuda/linear_operator.hpp, "What linear_operator.hpp says of residuals holds here"
// Promise: cuda/linear_operator.hpp, "A square A by its products on a device."
// Promise: cuda/linear_operator.hpp, "Derive from it to bring your own kernels."
TEST_F(CudaLinearOperator, GivesTheBitsOfTheProcessorInEveryMethod) {
    for (const char* name : {"poisson2d_40", "convection_diffusion_30"})
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0}) {
            SCOPED_TRACE(name);
            const CsrMatrix<double> a = generated(name);
            expect_bits_of_the_processor<double>(a, kind);
            expect_bits_of_the_processor<float>(convert<float>(a.view()), kind);
        }
}

TEST_F(CudaLinearOperator, BeginsAtTheGuess) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const std::vector<double> b = right_hand_side<double>(a), guess = random_vector<double>(b.size(), 5);
    const ProductsThere<double> there(a);
    for (const KrylovMethod method : all_krylov_methods)
        for (const Place place : {Place::host, Place::device})
            expect_same(solve_there<double>(method, there, nullptr, b, recorded(Accuracy::exact), place, nullptr, guess),
                        solve_here<double>(method, a, nullptr, b, recorded(Accuracy::exact), guess));
}

TEST_F(CudaLinearOperator, GivesTheBitsOfTheProcessorWithComplexScalars) {
    const auto a = real_form<double>(matrices::find_generator("helmholtz_20").value().make_complex());
    const std::vector<double> b = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
    const ProductsThere<double> there(a);
    KrylovOptions options = recorded(Accuracy::exact, 300);
    options.complex_scalars = true;
    const auto jacobi = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu(), {.complex_numbers = true});
    for (const KrylovMethod method : all_krylov_methods)
        for (const Preconditioner<double>* m : std::array<const Preconditioner<double>*, 2>{nullptr, jacobi.get()}) {
            if (method == KrylovMethod::minres && m != nullptr && !m->is_symmetric()) continue;
            SCOPED_TRACE(to_string(method));
            expect_same(solve_there(method, there, m, b, options), solve_here(method, a, m, b, options));
        }
}

/// Where every product is exact a matrix and its function are one, and so are their solves on every device.
TEST_F(CudaLinearOperator, HasTheBitsOfTheMatrixWhereItsProductsHave) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 40; ++i) entries.push_back({i, i, std::ldexp(1.0, i % 7)});
    const auto a = csr_from_entries<double>(40, 40, entries);
    const auto b = random_vector<double>(40, 3);
    const auto none = make_preconditioner<double>(Kind::none, a, Accuracy::exact, Device::cpu());
    for (const KrylovMethod method : all_krylov_methods) {
        const Solve<double> found = solve_there<double>(method, ProductsThere<double>(a), nullptr, b, {});
        for (const Device& device : {Device::cpu(), Device::cuda()}) {
            const Solve<double> expected = solve_on<double>(device, a, b, *none, {}, false, method);
            EXPECT_EQ(found.x, expected.x) << to_string(method) << " on " << to_string(device);
            EXPECT_EQ(found.result.iterations, expected.result.iterations);
        }
    }
}

TEST_F(CudaLinearOperator, IsSolvedInEveryAccuracy) {
    const Problem<double> problem = convection_diffusion<double>(40, 0);
    const ProductsThere<double> there(problem.a);
    const auto jacobi = make_preconditioner<double>(Kind::jacobi, problem.a, Accuracy::fast, Device::cpu());
    for (const KrylovMethod method : all_krylov_methods)
        for (const Accuracy accuracy : all_accuracies)
            for (const Preconditioner<double>* m : std::array<const Preconditioner<double>*, 2>{nullptr, jacobi.get()}) {
                const Solve<double> solved = solve_there(method, there, m, problem.b, with(accuracy));
                EXPECT_EQ(solved.result.status, SolveStatus::converged) << to_string(method) << to_string(accuracy);
                EXPECT_LE(true_residual(problem, solved), 1.001e-10);
            }
}

class Throws : public cuda::LinearOperator<double> {
public:
    explicit Throws(const CsrMatrix<double>& a, std::int64_t after) : a_(a), after_(after) {}

    std::int64_t rows() const override { return a_.rows(); }
    void apply(const double* x, double* y, cuda::Stream stream) const override {
        if (a_.products == after_) throw std::runtime_error("no product");
        a_.apply(x, y, stream);
    }

private:
    ProductsThere<double> a_;
    std::int64_t after_;
};

// Promise: cuda/linear_operator.hpp, "What it throws goes through the solve"
TEST_F(CudaLinearOperator, HandsOnWhatItThrows) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const std::vector<double> b = right_hand_side<double>(a);
    for (const KrylovMethod method : all_krylov_methods)
        for (const std::int64_t after : {0, 1, 2, 5, 9})
            EXPECT_THROW(solve_there<double>(method, Throws(a, after), nullptr, b, {}), std::runtime_error)
                << to_string(method) << " after " << after;
}

class NotFinite : public cuda::LinearOperator<double> {
public:
    std::int64_t rows() const override { return 3; }
    void apply(const double*, double* y, cuda::Stream stream) const override {
        const std::vector<double> nans(3, std::numeric_limits<double>::quiet_NaN());
        cuda::detail::copy_to_device(0, y, nans.data(), 24, stream);
    }
};

TEST_F(CudaLinearOperator, SaysWhatIsNotFinite) {
    for (const KrylovMethod method : all_krylov_methods)
        EXPECT_EQ(solve_there<double>(method, NotFinite(), nullptr, {1, 2, 3}, {}).result.status, SolveStatus::non_finite);
}

class WithoutRows : public cuda::LinearOperator<double> {
public:
    std::int64_t rows() const override { return 0; }
    void apply(const double*, double*, cuda::Stream) const override { ADD_FAILURE() << "called"; }
};

// Promise: cuda/linear_operator.hpp, "Not called where there are no rows."
TEST_F(CudaLinearOperator, MayHaveNoRows) {
    for (const KrylovMethod method : all_krylov_methods)
        EXPECT_EQ(solve_there<double>(method, WithoutRows(), nullptr, {}, {}, Place::host).result.status,
                  SolveStatus::converged);
}

/// M = D on a device by way of a plan, and not captured: it waits and allocates. It can throw.
class Waits final : public Preconditioner<double> {
public:
    Waits(const CsrMatrix<double>& inverse, bool throws) : inverse_(inverse), throws_(throws) {}

    void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
        ProductsHere<double>(inverse_).apply(r, z);
    }
    bool is_symmetric() const override { return true; }
    std::unique_ptr<cuda::DevicePreconditioner<double>> on_device(int) const override {
        class OnDevice final : public cuda::DevicePreconditioner<double> {
        public:
            OnDevice(const CsrMatrix<double>& inverse, bool throws) : inverse_(inverse), throws_(throws) {}
            void apply(const double* r, double* z, Accuracy, cuda::Stream stream) override {
                if (throws_) throw std::runtime_error("no preconditioner");
                cuda::synchronize(0, stream);
                ProductsThere<double>(inverse_).apply(r, z, stream);
                cuda::synchronize(0, stream);
            }

        private:
            const CsrMatrix<double>& inverse_;
            bool throws_;
        };
        return std::make_unique<OnDevice>(inverse_, throws_);
    }

private:
    const CsrMatrix<double>& inverse_;
    bool throws_;
};

/// M = D on the host alone.
class OnTheHost : public Preconditioner<double> {
public:
    void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / (3 + static_cast<double>(i % 2));
    }
    bool is_symmetric() const override { return true; }
};

// Promise: cuda/linear_operator.hpp, "M is applied by its counterpart on the device"
// Promise: cuda/linear_operator.hpp, "It may wait and allocate, too"
// Promise: solver_cuda.h, "In solver_cuda_solve_operator it may do what"
TEST_F(CudaLinearOperator, TakesPreconditionersOfTheCallersOnTheDeviceAndOnTheHost) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const std::vector<double> b = right_hand_side<double>(a);
    std::vector<Entry<double>> quarters;
    for (std::int32_t i = 0; i < a.rows; ++i) quarters.push_back({i, i, 0.25 + 0.125 * (i % 2)});
    const auto inverse = csr_from_entries<double>(a.rows, a.rows, quarters);
    const Waits waits(inverse, false), throws(inverse, true);
    const ProductsThere<double> there(a);
    for (const KrylovMethod method : all_krylov_methods) {
        SCOPED_TRACE(to_string(method));
        const KrylovOptions options = recorded(Accuracy::exact);
        expect_same<double>(solve_there<double>(method, there, &waits, b, options),
                            solve_here<double>(method, a, &waits, b, options));
        const OnTheHost on_the_host;
        expect_same<double>(solve_there<double>(method, there, &on_the_host, b, options),
                            solve_here<double>(method, a, &on_the_host, b, options));
        EXPECT_THROW(solve_there<double>(method, there, &throws, b, options), std::runtime_error);
    }
}

/// A product with zeros that goes to the stream behind a long row of others; the last of them is A's own.
class Late : public ProductsThere<double> {
public:
    using ProductsThere<double>::ProductsThere;

    void apply(const double* x, double* y, cuda::Stream stream) const override {
        for (int i = 0; i < 200; ++i) ProductsThere<double>::apply(x, y, stream);
    }
};

// Promise: cuda/linear_operator.hpp, "All work is put on the caller's stream, one operation after another"
/// b, which takes the device long to make, is on its way when the solve is called.
// Promise: solver_cuda.h, "All work is put on the stream, that of A"
// Promise: cuda/linear_operator.hpp, "y = A x, vectors of rows() elements in the device's"
TEST_F(CudaLinearOperator, WorksOnTheStreamOfTheCaller) {
    const CsrMatrix<double> a = generated("poisson2d_300");
    const cuda::OwnedStream stream(0);
    const Late late(a);
    const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1);
    const cuda::DeviceArray<double> of_ones(0, ones, "ones"), b(0, a.rows, "b"), x(0, a.rows, "x");
    b.fill_with_zeros();
    x.fill_with_zeros();
    cuda::synchronize(0, nullptr);
    std::vector<double> expected_b(ones.size());
    ProductsHere<double>(a).apply(ones, expected_b);
    const KrylovOptions options = recorded(Accuracy::exact, 5);
    for (int i = 0; i < 20; ++i) late.apply(of_ones.data(), b.data(), stream.get());
    Solve<double> found{{}, std::vector<double>(ones.size()), {}};
    found.result = cuda::krylov_solve<double>(KrylovMethod::cg, late, nullptr, std::span<const double>(b.data(), ones.size()),
                                              std::span(x.data(), ones.size()), options, Device::cuda(), stream.get());
    x.copy_to(found.x);
    expect_same(found, solve_here<double>(KrylovMethod::cg, a, nullptr, expected_b, options));
}

TEST_F(CudaLinearOperator, IsAppliedAsOftenAsAMethodsStepsAsk) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    for (const KrylovMethod method : all_krylov_methods) {
        const auto products_after = [&](std::int64_t steps) {
            const ProductsThere<double> there(a);
            const auto solved =
                solve_there<double>(method, there, nullptr, random_vector<double>(1600, 3), recorded(Accuracy::exact, steps));
            EXPECT_EQ(solved.result.iterations, steps) << to_string(method);
            for (const Iteration& step : solved.result.history) there.products -= step.number > 0 && step.true_residual >= 0;
            return there.products;
        };
        const std::int64_t products = products_after(12) - products_after(6);
        EXPECT_EQ(products, method == KrylovMethod::bicgstab || method == KrylovMethod::bicgstab2 ? 12 : 6)
            << to_string(method);
    }
}

TEST_F(CudaLinearOperator, AsksTheCallbackAndShowsTheIterate) {
    const CsrMatrix<double> a = generated("poisson2d_40");
    const std::vector<double> b = right_hand_side<double>(a);
    std::vector<double> last(b.size());
    KrylovOptions options;
    options.callback = [&](const Iteration& step) {
        step.iterate->copy_to(last);
        return step.number < 7;
    };
    const Solve<double> found = solve_there<double>(KrylovMethod::cg, ProductsThere<double>(a), nullptr, b, options);
    EXPECT_EQ(found.result.iterations, 7);
    EXPECT_EQ(found.result.status, SolveStatus::iteration_limit);
    EXPECT_EQ(last, found.x);
}

// Promise: cuda/linear_operator.hpp, "Throws InvalidArgument where the device is the processor."
TEST(CudaLinearOperatorRefusals, NeedNoDevice) {
    const WithoutRows a;
    std::vector<double> x;
    EXPECT_THAT([&] { cuda::krylov_solve<double>(KrylovMethod::idr, a, nullptr, x, x, {}, Device::cpu(1)); },
                ::testing::ThrowsMessage<InvalidArgument>(
                    "idr: the operator is applied on a CUDA device, not on cpu; expected Device::cuda()"));
    if (cuda::device_count() == 0) {
        EXPECT_THROW(cuda::krylov_solve<double>(KrylovMethod::idr, a, nullptr, x, x), NotSupported);
    }
}

TEST_F(CudaLinearOperator, RefusesWhatCannotBeMeant) {
    const CsrMatrix<double> a = generated("poisson2d_5");
    const ProductsThere<double> there(a);
    std::vector<double> b(25, 1), x(25), other(4);
    EXPECT_THAT([&] { cuda::krylov_solve<double>(KrylovMethod::gmres, there, nullptr, other, x); },
                ::testing::ThrowsMessage<DimensionMismatch>(::testing::StartsWith("gmres: b has 4 elements, A is 25 x 25")));
    EXPECT_THROW(cuda::krylov_solve<double>(KrylovMethod::gmres, there, nullptr, b, x, {.complex_scalars = true}),
                 InvalidArgument);
    const auto ilu = make_preconditioner<double>(Kind::ilu0, a, Accuracy::fast, Device::cpu(1));
    EXPECT_THROW(cuda::krylov_solve<double>(KrylovMethod::minres, there, ilu.get(), b, x), InvalidArgument);
}

}  // namespace
}  // namespace solver
