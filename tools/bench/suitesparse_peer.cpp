#include "suitesparse_peer.hpp"

#include "solver/error.hpp"

#include <dlfcn.h>
#include <klu.h>
#ifdef SOLVER_BENCH_UMFPACK
#include <umfpack.h>
#endif
#ifdef SOLVER_BENCH_CHOLMOD
#include <cholmod.h>
#endif

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace solver::bench::suitesparse {
namespace {

using Long = SuiteSparse_long;

/// The rows of A in the places of columns: A transposed to these libraries, which solve with the transpose of what they
/// factored.
struct Arrays {
    explicit Arrays(const CsrView<double>& a)
        : n(a.rows),
          offsets(a.row_offsets.begin(), a.row_offsets.end()),
          indices(a.column_indices.begin(), a.column_indices.end()),
          values(a.values.begin(), a.values.end()) {}

    Long n;
    std::vector<Long> offsets, indices;
    std::vector<double> values;
};

/// A function of OpenBLAS, where that is the system's BLAS; else null.
template <class Function>
Function* of_openblas(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

PeerSolve by_klu(Arrays& a, std::span<const double> b, std::span<double> x) {
    klu_l_common common;
    klu_l_defaults(&common);
    const auto free_symbolic = [&](klu_l_symbolic* symbolic) { klu_l_free_symbolic(&symbolic, &common); };
    const auto free_numeric = [&](klu_l_numeric* numeric) { klu_l_free_numeric(&numeric, &common); };
    std::unique_ptr<klu_l_symbolic, decltype(free_symbolic)> symbolic(nullptr, free_symbolic);
    std::unique_ptr<klu_l_numeric, decltype(free_numeric)> numeric(nullptr, free_numeric);
    const auto require = [&](bool done) {
        if (common.status == KLU_OUT_OF_MEMORY || common.status == KLU_TOO_LARGE) throw std::bad_alloc();
        if (!done || common.status != KLU_OK) throw InvalidArgument("KLU: the matrix is singular");
    };
    PeerSolve result{.converged = true};
    result.setup_seconds = seconds_of([&] {
        symbolic.reset(klu_l_analyze(a.n, a.offsets.data(), a.indices.data(), &common));
        require(symbolic != nullptr);
        numeric.reset(klu_l_factor(a.offsets.data(), a.indices.data(), a.values.data(), symbolic.get(), &common));
        require(numeric != nullptr);
    });
    std::copy(b.begin(), b.end(), x.begin());
    result.solve_seconds =
        seconds_of([&] { require(klu_l_tsolve(symbolic.get(), numeric.get(), a.n, 1, x.data(), &common) != 0); });
    return result;
}

#ifdef SOLVER_BENCH_UMFPACK

PeerSolve by_umfpack(Arrays& a, std::span<const double> b, std::span<double> x) {
    const auto free_symbolic = [](void* symbolic) { umfpack_dl_free_symbolic(&symbolic); };
    const auto free_numeric = [](void* numeric) { umfpack_dl_free_numeric(&numeric); };
    std::unique_ptr<void, decltype(free_symbolic)> symbolic(nullptr, free_symbolic);
    std::unique_ptr<void, decltype(free_numeric)> numeric(nullptr, free_numeric);
    const auto require = [](Long status) {
        if (status == UMFPACK_ERROR_out_of_memory) throw std::bad_alloc();
        if (status != UMFPACK_OK) throw InvalidArgument("UMFPACK: the matrix is singular");
    };
    PeerSolve result{.converged = true};
    result.setup_seconds = seconds_of([&] {
        void* made = nullptr;
        require(umfpack_dl_symbolic(a.n, a.n, a.offsets.data(), a.indices.data(), a.values.data(), &made, nullptr, nullptr));
        symbolic.reset(made);
        require(
            umfpack_dl_numeric(a.offsets.data(), a.indices.data(), a.values.data(), symbolic.get(), &made, nullptr, nullptr));
        numeric.reset(made);
    });
    result.solve_seconds = seconds_of([&] {
        require(umfpack_dl_solve(UMFPACK_Aat, a.offsets.data(), a.indices.data(), a.values.data(), x.data(), b.data(),
                                 numeric.get(), nullptr, nullptr));
    });
    return result;
}

#endif
#ifdef SOLVER_BENCH_CHOLMOD

PeerSolve by_cholmod(Arrays& a, std::span<const double> b, std::span<double> x) {
    cholmod_common common;
    cholmod_l_start(&common);
    const auto finish = [](cholmod_common* used) { cholmod_l_finish(used); };
    const std::unique_ptr<cholmod_common, decltype(finish)> guard(&common, finish);
    common.print = 0;
    cholmod_sparse matrix{};
    matrix.nrow = matrix.ncol = b.size();
    matrix.nzmax = a.values.size();
    matrix.p = a.offsets.data();
    matrix.i = a.indices.data();
    matrix.x = a.values.data();
    matrix.stype = -1;  // its lower triangle
    matrix.itype = CHOLMOD_LONG;
    matrix.xtype = CHOLMOD_REAL;
    matrix.dtype = CHOLMOD_DOUBLE;
    matrix.sorted = matrix.packed = 1;
    std::vector<double> rhs_values(b.begin(), b.end());
    cholmod_dense rhs{};
    rhs.nrow = rhs.d = rhs.nzmax = b.size();
    rhs.ncol = 1;
    rhs.x = rhs_values.data();
    rhs.xtype = CHOLMOD_REAL;
    rhs.dtype = CHOLMOD_DOUBLE;

    const auto free_factor = [&](cholmod_factor* factor) { cholmod_l_free_factor(&factor, &common); };
    const auto free_dense = [&](cholmod_dense* dense) { cholmod_l_free_dense(&dense, &common); };
    std::unique_ptr<cholmod_factor, decltype(free_factor)> factor(nullptr, free_factor);
    std::unique_ptr<cholmod_dense, decltype(free_dense)> solution(nullptr, free_dense);
    const auto require = [&](bool done) {
        if (common.status == CHOLMOD_OUT_OF_MEMORY || common.status == CHOLMOD_TOO_LARGE) throw std::bad_alloc();
        if (!done || common.status != CHOLMOD_OK) throw InvalidArgument("CHOLMOD: the matrix is not positive definite");
    };
    PeerSolve result{.converged = true};
    result.setup_seconds = seconds_of([&] {
        factor.reset(cholmod_l_analyze(&matrix, &common));
        require(factor != nullptr);
        require(cholmod_l_factorize(&matrix, factor.get(), &common) != 0);
    });
    result.solve_seconds = seconds_of([&] {
        solution.reset(cholmod_l_solve(CHOLMOD_A, factor.get(), &rhs, &common));
        require(solution != nullptr);
    });
    std::copy_n(static_cast<const double*>(solution->x), x.size(), x.begin());
    return result;
}

#endif

}  // namespace

bool is_there([[maybe_unused]] Method method) {
#ifndef SOLVER_BENCH_UMFPACK
    if (method == Method::umfpack) return false;
#endif
#ifndef SOLVER_BENCH_CHOLMOD
    if (method == Method::cholmod) return false;
#endif
    return true;
}

std::string description() {
    return "SuiteSparse " + std::to_string(SUITESPARSE_MAIN_VERSION) + "." + std::to_string(SUITESPARSE_SUB_VERSION) + "." +
           std::to_string(SUITESPARSE_SUBSUB_VERSION) +
           (of_openblas<char*()>("openblas_get_config") != nullptr ? " with OpenBLAS" : " with a BLAS that is not OpenBLAS");
}

PeerSolve solve(Method method, const PeerTask& task) {
    if (auto* set_threads = of_openblas<void(int)>("openblas_set_num_threads")) set_threads(task.threads);
    Arrays arrays(task.a);
    switch (method) {
        case Method::klu:
            return by_klu(arrays, task.b, task.x);
        case Method::umfpack:
#ifdef SOLVER_BENCH_UMFPACK
            return by_umfpack(arrays, task.b, task.x);
#else
            break;
#endif
        case Method::cholmod:
#ifdef SOLVER_BENCH_CHOLMOD
            return by_cholmod(arrays, task.b, task.x);
#else
            break;
#endif
    }
    throw NotSupported("solver-bench was built without this library of SuiteSparse");
}

}  // namespace solver::bench::suitesparse
