#include "soak/calls.hpp"

#include "matrices/generators.hpp"
#include "solver/solver.h"
#include "solver/solver.hpp"

#include <array>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace solver::soak {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

template <class Choices>
auto one_of(Random& random, const Choices& choices) {
    return choices[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(std::size(choices)) - 1))];
}

Accuracy some_accuracy(Random& random) {
    return one_of(random, std::array{Accuracy::fast, Accuracy::compensated, Accuracy::exact});
}

/// One in `n` numbers is no number, where `n` is not 0.
template <class T>
std::vector<T> numbers(Random& random, std::int64_t count, int n = 0) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (T& number : all) number = std::uniform_real_distribution<T>(-1, 1)(random);
    if (n > 0 && count > 0) all[static_cast<std::size_t>(between(random, 0, count - 1))] = std::numeric_limits<T>::quiet_NaN();
    return all;
}

template <class T>
CsrMatrix<T> some_matrix(Random& random) {
    const std::string name = one_of(
        random, std::array{"poisson2d_", "convection_diffusion_", "power_law_", "elasticity2d_", "stokes2d_", "thousandths_"});
    const std::int64_t n = between(random, 1, 40);
    const auto generator =
        matrices::find_generator(name + std::to_string(name == "power_law_" || name == "thousandths_" ? 20 * n : n));
    if (!generator) throw std::logic_error("no generator " + name);
    CsrMatrix<T> a = convert<T>(generator->make().view());
    if (between(random, 0, 9) == 0 && !a.values.empty()) a.values[0] = 0;
    if (between(random, 0, 19) == 0 && !a.values.empty()) a.values[0] = std::numeric_limits<T>::infinity();
    if (between(random, 0, 29) == 0 && !a.column_indices.empty()) a.column_indices[0] = -1;
    check<T>(a);
    return a;
}

struct Stop : std::runtime_error {
    Stop() : std::runtime_error("the callback has had enough") {}
};

SolveOptions some_options(Random& random) {
    SolveOptions options;
    options.iteration.accuracy = some_accuracy(random);
    options.iteration.max_iterations = between(random, 0, 60);
    options.iteration.tolerance = std::pow(10.0, -static_cast<double>(between(random, 1, 18)));
    options.iteration.keep_history = between(random, 0, 1) == 1;
    if (between(random, 0, 7) == 0)
        options.iteration.callback = [](const Iteration& step) {
            if (step.number == 2) throw Stop();
            return true;
        };
    using enum PreconditionerKind;
    if (between(random, 0, 3) != 0)
        options.preconditioner = one_of(random, std::array{none, jacobi, ilu0, isai, ilut, klu, amg});
    if (between(random, 0, 2) == 0) options.method = one_of(random, std::array{KrylovMethod::bicgstab, KrylovMethod::cg});
    if (between(random, 0, 9) == 0) options.factors.memory_limit = 1;
    return options;
}

SpmvOptions some_storage(Random& random) {
    return {.storage = one_of(random, std::array{SpmvStorage::automatic, SpmvStorage::csr, SpmvStorage::packed}),
            .expected_products = between(random, 1, 1000)};
}

template <class T>
void solve_a_system(Random& random, const Device& device) {
    const CsrMatrix<T> a = some_matrix<T>(random);
    const SpmvPlan<T> plan(a.view(), device, some_storage(random));
    SolveOptions options = some_options(random);
    if constexpr (std::is_same_v<T, double>) options.mixed = between(random, 0, 4) == 0;
    const std::vector<T> b = numbers<T>(random, a.rows, static_cast<int>(between(random, 0, 19)) == 0);
    std::vector<T> x(static_cast<std::size_t>(a.columns)), x_low(x.size());
    solve<T>(plan, b, x, between(random, 0, 1) == 1 && !options.mixed ? std::span<T>(x_low) : std::span<T>(), options);
}

template <class T>
void multiply(Random& random, const Device& device) {
    const CsrMatrix<T> a = some_matrix<T>(random);
    SpmvPlan<T> plan(a.view(), device, some_storage(random));
    const std::vector<T> x = numbers<T>(random, a.columns - (between(random, 0, 9) == 0));
    std::vector<T> y = numbers<T>(random, a.rows);
    plan.multiply(2, x, 1, y, some_accuracy(random));
    plan.update_values(a.values);
    plan.residual(y, x, {}, y, some_accuracy(random));
}

template <class T>
void solve_a_triangle(Random& random, const Device& device) {
    const CsrMatrix<T> a = some_matrix<T>(random);
    const TriangularSolvePlan<T> plan(a.view(), one_of(random, std::array{Triangle::lower, Triangle::upper}),
                                      one_of(random, std::array{Diagonal::stored, Diagonal::unit}), device);
    std::vector<T> x(static_cast<std::size_t>(a.rows));
    plan.solve(numbers<T>(random, a.rows), x, some_accuracy(random));
}

template <class T>
void multiply_dense(Random& random, const Device& device) {
    const std::int64_t n = between(random, 0, 90), k = between(random, 0, 90), m = between(random, 0, 90);
    const std::vector<T> a = numbers<T>(random, n * k), b = numbers<T>(random, k * m);
    std::vector<T> c(static_cast<std::size_t>(n * m));
    gemm(T(1), DenseView<T>{n, k, k, 1, a.data()}, DenseView<T>{k, m, m, 1, b.data()}, T(0),
         MutableDenseView<T>{n, m, m, 1, c.data()}, some_accuracy(random), device);
}

template <class T>
void reduce(Random& random, const Device& device) {
    const std::vector<T> x = numbers<T>(random, between(random, 0, 200000)),
                         y = numbers<T>(random, between(random, 0, 1) * 7 + 100);
    sum(x, some_accuracy(random), device);
    norm2(x, some_accuracy(random), device);
    dot(y, std::span(x).first(std::min(x.size(), std::size_t{100})), some_accuracy(random), device);
}

template <class T>
void write_and_read(Random& random, const std::filesystem::path& folder) {
    const CsrMatrix<T> a = some_matrix<T>(random);
    const std::filesystem::path file = folder / one_of(random, std::array{"a.mtx", "a.mtx.gz", "nowhere/a.mtx"});
    write_matrix_market(file, a.view());
    if (between(random, 0, 4) == 0) std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    read_csr<T>(file, {.threads = static_cast<int>(between(random, 1, 3))});
}

/// By the C API, as other languages do it; what fails leaves nothing to be freed.
void call_from_c(Random& random, const std::filesystem::path& folder) {
    solver_matrix* matrix = nullptr;
    const std::string file = folder / "c.mtx";
    std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n2 2 " << between(random, 1, 3) << "\n1 1 2\n2 2 3\n";
    if (solver_matrix_read(file.c_str(), SOLVER_DOUBLE, SOLVER_PROCESSOR, &matrix) != SOLVER_OK)
        throw std::runtime_error(solver_last_error());
    solver_matrix_write((folder / one_of(random, std::array{"d.mtx", "nowhere/d.mtx"})).c_str(), matrix);
    solver_matrix_destroy(matrix);
}

template <class Work>
void in_a_thread_of_its_own(const Work& work) {
    std::exception_ptr refusal;
    std::thread([&] {
        try {
            work();
        } catch (...) {
            refusal = std::current_exception();
        }
    }).join();
    if (refusal) std::rethrow_exception(refusal);
}

}  // namespace

Device Calls::some_device() {
    if (cuda_ && between(random_, 0, 9) != 0) return *cuda_;
    return Device::cpu(static_cast<int>(between(random_, 1, 3)));
}

template <class T>
void Calls::make() {
    switch (between(random_, 0, 9)) {
        case 0:
            return multiply<T>(random_, some_device());
        case 1:
            return solve_a_triangle<T>(random_, some_device());
        case 2:
            return multiply_dense<T>(random_, some_device());
        case 3:
            return reduce<T>(random_, some_device());
        case 4:
            return write_and_read<T>(random_, folder_);
        case 5:
            return call_from_c(random_, folder_);
        case 6:
            return in_a_thread_of_its_own([&] { reduce<T>(random_, some_device()); });
        default:
            return solve_a_system<T>(random_, some_device());
    }
}

void Calls::make_one() {
    ++made_;
    try {
        between(random_, 0, 1) == 0 ? make<double>() : make<float>();
    } catch (const std::exception&) {
        ++refused_;
    }
}

}  // namespace solver::soak
