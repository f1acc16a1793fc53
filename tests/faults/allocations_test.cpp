// Every request for memory refused once: what was asked for is refused with an error, nothing leaks, and the next call works.

#include "faults/failing_memory.hpp"
#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"
#include "solver/gemm.hpp"
#include "solver/gemv.hpp"
#include "solver/lsmr.hpp"
#include "solver/matrix_market.hpp"
#include "solver/preparation.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "solver/triangular_solve.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <new>
#include <system_error>

#include "support/temporary_folder.hpp"

namespace solver {
namespace {

using Numbers = std::vector<double>;
using Call = std::function<Numbers()>;

const CsrMatrix<double>& matrix() {
    static const CsrMatrix<double> a = matrices::find_generator("convection_diffusion_12").value().make();
    return a;
}

Numbers ones(std::int64_t n) { return Numbers(static_cast<std::size_t>(n), 1.0); }

enum class End { done, refused };

/// Calls with the n-th request refused. Only errors that say what they are may come out.
End call_refusing(const Call& call, std::int64_t n, Numbers& result) {
    faults::refuse_request(n);
    try {
        result = call();
        faults::refuse_request(0);
        return End::done;
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    } catch (const std::system_error&) {  // a thread
    }
    return End::refused;
}

/// What the call keeps of memory when it is done; the result has been given back.
std::int64_t kept_after(const Call& call, std::int64_t n) {
    faults::refuse_request(n);
    try {
        call();
    } catch (const std::exception&) {
    }
    const std::int64_t kept = faults::pieces_kept();
    faults::refuse_request(0);
    return kept;
}

/// All requests where there are few, else the first hundred and some hundred others spread over the rest.
std::int64_t next(std::int64_t n, std::int64_t count) { return n < 100 ? n + 1 : n + std::max<std::int64_t>(1, count / 150); }

void survives(const Call& call) {
    call();  // what is made once and kept: threads, tables
    const Numbers expected = call();
    faults::refuse_request(0);
    call();
    const std::int64_t count = faults::requests();
    ASSERT_EQ(kept_after(call, 0), 0) << "the call itself keeps memory";
    std::int64_t refused = 0;
    for (std::int64_t n = 1; n <= count; n = next(n, count)) {
        Numbers result;
        refused += call_refusing(call, n, result) == End::refused;
        ASSERT_TRUE(result.empty() || result == expected) << "a wrong result after request " << n << " of " << count;
        EXPECT_EQ(kept_after(call, n), 0) << "memory lost after request " << n << " of " << count;
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(call(), expected);
}

/// As survives, of calls that may go another way where one thing cannot be made, and so have another result.
void loses_nothing(const Call& call) {
    call();
    faults::refuse_request(0);
    const Numbers expected = call();
    const std::int64_t count = faults::requests();
    for (std::int64_t n = 1; n <= count; n = next(n, count)) {
        Numbers result;
        call_refusing(call, n, result);
        EXPECT_EQ(kept_after(call, n), 0) << "memory lost after request " << n << " of " << count;
    }
    EXPECT_EQ(call(), expected);
}

constexpr Accuracy exact = Accuracy::exact;

TEST(Allocations, OfReductions) {
    const Numbers x(20000, 0.1);
    survives([&] {
        return Numbers{sum(x, exact, Device::cpu(2)), dot(x, x, exact, Device::cpu(2)), norm2(x, exact, Device::cpu(2))};
    });
    survives([&] {
        const auto expansion = dot_expansion(x, x, Device::cpu(2));
        return Numbers(expansion.components().begin(), expansion.components().end());
    });
}

TEST(Allocations, OfProducts) {
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive})
        survives([&] {
            Numbers y = ones(matrix().rows);
            SpmvPlan<double>(matrix(), Device::cpu(2), kernel).multiply(0.1, ones(matrix().columns), 3, y, exact);
            return y;
        });
    const DenseMatrix<double> a{60, 60, Numbers(3600, 0.1)};
    survives([&] {
        DenseMatrix<double> c{60, 60, Numbers(3600)};
        gemm(1.0, a, a, 0.0, c.mutable_view(), exact, Device::cpu(2));
        gemv(1.0, a, ones(60), 0.0, std::span(c.values).first(60), exact, Device::cpu(2));
        return c.values;
    });
}

TEST(Allocations, OfTriangularSolves) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 600; ++i) {
        entries.push_back({i, i, 3});
        if (i >= 300) entries.push_back({i, i - 300, 1});
    }
    const CsrMatrix<double> a = csr_from_entries<double>(600, 600, entries);
    survives([&] {
        Numbers x(600);
        TriangularSolvePlan<double>(a, Triangle::lower, Diagonal::stored, Device::cpu(2)).solve(ones(600), x, exact);
        return x;
    });
}

TEST(Allocations, OfPreconditioners) {
    for (const PreconditionerKind kind : {PreconditionerKind::jacobi, PreconditionerKind::ilu0, PreconditionerKind::isai,
                                          PreconditionerKind::ilut, PreconditionerKind::klu, PreconditionerKind::amg}) {
        SCOPED_TRACE(to_string(kind));
        survives([&] {
            Numbers z(static_cast<std::size_t>(matrix().rows));
            make_preconditioner<double>(kind, matrix(), exact, Device::cpu(2))->apply(ones(matrix().rows), z, exact);
            return z;
        });
    }
}

TEST(Allocations, OfIterations) {
    survives([&] {
        Numbers x(static_cast<std::size_t>(matrix().rows));
        const auto m = make_preconditioner<double>(PreconditionerKind::ilu0, matrix(), exact, Device::cpu(1));
        bicgstab<double>(SpmvPlan<double>(matrix(), Device::cpu(1)), *m, ones(matrix().rows), x, {},
                         {.accuracy = exact, .keep_history = true});
        return x;
    });
}

TEST(Allocations, OfPreparations) {
    survives([&] {
        const Preparation preparation = prepare<double>(matrix(), Ordering::amd);
        return prepared_matrix<double>(matrix(), preparation).values;
    });
}

TEST(Allocations, OfFiles) {
    const testing::TemporaryFolder folder;
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
        SCOPED_TRACE(name);
        const auto path = folder.path() / name;
        survives([&] {
            write_matrix_market<double>(path, matrix().view());
            return read_csr<double>(path, {.threads = 2}).values;
        });
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), name == std::string("a.mtx") ? 1 : 2)
            << "temporary files are left";
    }
}

TEST(Allocations, OfMethods) {
    const Numbers b = ones(matrix().rows);
    for (const KrylovMethod method :
         {KrylovMethod::gmres, KrylovMethod::minres, KrylovMethod::idr, KrylovMethod::bicgstab2, KrylovMethod::cg}) {
        SCOPED_TRACE(to_string(method));
        survives([&] {
            Numbers x(b.size());
            const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, matrix(), exact, Device::cpu(1));
            krylov_solve<double>(method, SpmvPlan<double>(matrix(), Device::cpu(1)), *m, b, x, {},
                                 {.accuracy = exact, .max_iterations = 12, .restart = 5});
            return x;
        });
    }
    const CsrMatrix<double> transposed = transpose<double>(matrix());
    survives([&] {
        Numbers x(b.size());
        const Device device = Device::cpu(1);
        lsmr<double>(SpmvPlan<double>(matrix(), device), SpmvPlan<double>(transposed, device), b, x, {.max_iterations = 12});
        return x;
    });
}

using Complex = std::complex<double>;
using ComplexNumbers = std::vector<Complex>;

Numbers parts(const ComplexNumbers& z) {
    const auto view = real_view(std::span<const Complex>(z));
    return {view.begin(), view.end()};
}

TEST(Allocations, OfComplexNumbers) {
    const CsrMatrix<Complex> a = matrices::find_generator("helmholtz_8").value().make_complex();
    const auto n = static_cast<std::size_t>(a.rows);
    const ComplexNumbers b(n, Complex(0.1, 1));
    survives([&] {
        ComplexNumbers y = b;
        SpmvPlan<Complex>(a.view(), Device::cpu(2)).multiply({1, 2}, b, {0, 3}, y, exact);
        y.push_back(dot(b, y, exact, Device::cpu(2)));
        return parts(y);
    });
    survives([&] {
        ComplexNumbers x(n);
        const CsrMatrix<Complex> diagonal{1, 1, {0, 1}, {0}, {Complex(3, 4)}};
        TriangularSolvePlan<Complex>(diagonal.view(), Triangle::upper, Diagonal::stored, Device::cpu(1))
            .solve(std::span(b).first(1), std::span(x).first(1), exact);
        return parts(x);
    });
    loses_nothing([&] {
        ComplexNumbers x(n);
        solve<Complex>(SpmvPlan<Complex>(a.view(), Device::cpu(1)), b, x, {}, {.guarantee = Guarantee::bound});
        return parts(x);
    });
}

TEST(Allocations, OfSolvesWithoutAdvice) {
    for (const char* name : {"convection_diffusion_12", "poisson2d_33", "stokes2d_5"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> a = matrices::find_generator(name).value().make();
        loses_nothing([&] {
            Numbers x(static_cast<std::size_t>(a.rows));
            solve<double>(SpmvPlan<double>(a, Device::cpu(1)), ones(a.rows), x);
            return x;
        });
    }
}

/// An H-matrix, and one that takes factors or an inverse. What is rounded all the same has the same bits.
TEST(Allocations, OfRoundedSolves) {
    for (const char* name : {"convection_diffusion_12", "stokes2d_5"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> a = matrices::find_generator(name).value().make();
        const auto rounded = [&](Numbers& x) {
            x.assign(static_cast<std::size_t>(a.rows), 0);
            const SolveOptions options{.guarantee = Guarantee::rounded};
            return solve<double>(SpmvPlan<double>(a, Device::cpu(1)), ones(a.rows), x, {}, options).proof().status;
        };
        Numbers expected;
        ASSERT_EQ(rounded(expected), ProofStatus::proven);
        loses_nothing([&] {
            Numbers x;
            if (rounded(x) == ProofStatus::proven) {
                EXPECT_EQ(x, expected);
            }
            return x;
        });
    }
}

}  // namespace
}  // namespace solver
