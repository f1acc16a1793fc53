#include "c/arguments.hpp"
#include "c/matrix.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "solver/guarantee.hpp"
#include "solver/solver.h"

#include <cstdint>
#include <span>
#include <vector>

struct solver_certificate {
    solver::Certificate of;
};

namespace solver::c {
namespace {

solver_certificate_view view_of(const Certificate& certificate) {
    solver_certificate_view view{};
    view.status = static_cast<std::int32_t>(certificate.status);
    view.adds_up = certificate.adds_up ? 1 : 0;
    view.reason = certificate.reason.c_str();
    view.rows = std::ssize(certificate.reach);
    view.reach = certificate.reach.empty() ? nullptr : certificate.reach.data();
    view.weights = certificate.weights.empty() ? nullptr : certificate.weights.data();
    view.iterations = certificate.iterations;
    return view;
}

}  // namespace
}  // namespace solver::c

using namespace solver;
using namespace solver::c;

solver_status solver_certify(const solver_matrix* matrix, const solver_options* options, solver_certificate** certificate) {
    constexpr const char* name = "solver_certify";
    return guarded([&] {
        required(certificate, name, "certificate") = nullptr;
        solver_options given = options_or_default(options, name);
        given.guarantee = nullptr;
        given.callback = nullptr;
        std::vector<bool> stopped;
        const SolveOptions wanted = options_from_c(given, stopped, name);
        with_matrix(matrix, name, [&](const auto& of) { *certificate = new solver_certificate{certify(of.plan(), wanted)}; });
    });
}

solver_status solver_certificate_look(const solver_certificate* certificate, solver_certificate_view* view) {
    constexpr const char* name = "solver_certificate_look";
    return guarded([&] { hand_over(view_of(required(certificate, name, "certificate").of), view, name, "view"); });
}

solver_status solver_error_bound(const solver_matrix* matrix, const solver_certificate* certificate, const void* b,
                                 const void* x, const void* x_low, double* bounds) {
    constexpr const char* name = "solver_error_bound";
    return guarded([&] {
        const Certificate& proof = required(certificate, name, "certificate").of;
        with_matrix(matrix, name, [&]<class T>(const Matrix<T>& of) {
            const std::int64_t n = of.plan().rows();
            error_bound<T>(of.plan(), proof, elements<const T>(b, n, name, "b"), elements<const T>(x, n, name, "x"),
                           elements<const T>(x_low, x_low == nullptr ? 0 : n, name, "x_low"),
                           elements<double>(bounds, n, name, "bounds"));
        });
    });
}

void solver_certificate_destroy(solver_certificate* certificate) { delete certificate; }
