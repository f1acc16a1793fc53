#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "solver/gemm.hpp"
#include "solver/gemv.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <array>

namespace solver::frozen {
namespace {

/// What alpha and beta may be: the paths of their own, a rounding, an overflow, an underflow.
template <class T>
std::vector<std::pair<T, T>> factor_pairs() {
    const T third = T(1) / T(3);
    const T huge = std::ldexp(third, std::numeric_limits<T>::max_exponent - 20);
    const T tiny = 3 * std::numeric_limits<T>::denorm_min();
    return {{T(1), T(0)}, {T(-1), T(1)}, {third, T(-7)}, {huge, third}, {tiny, tiny}, {T(0), third}};
}

template <class T>
void record_sparse(Record& record, const Device& device, SpmvKernel kernel) {
    const HardSystem<T> system = hard_system<T>(7, 30, 6000);
    const SpmvPlan<T> plan(system.a, device, kernel);
    const std::vector<T> addends = numbers<T>(8, system.a.rows, -30, 30);
    Digest products, residuals, together;
    for (const auto& [alpha, beta] : factor_pairs<T>()) {
        std::vector<T> y = addends;
        plan.multiply(alpha, system.x, beta, y, record.accuracy());
        products.add(y);
    }
    std::vector<T> low(system.x.size());
    for (std::size_t i = 0; i < low.size(); ++i) low[i] = std::ldexp(system.x[low.size() - 1 - i], -60);
    std::vector<T> r(addends.size());
    plan.residual(addends, system.x, {}, r, record.accuracy());
    residuals.add(r);
    plan.residual(addends, system.x, low, r, record.accuracy());
    residuals.add(r);
    std::vector<T> first = addends, second = addends;
    const std::array<SpmvTask<T>, 2> tasks{SpmvTask<T>{T(3), system.x, {}, T(-1), first, first},
                                           SpmvTask<T>{T(-1), system.x, low, T(1), addends, second}};
    plan.multiply(tasks, record.accuracy());
    together.add(first);
    together.add(second);
    record.add(name_of<T>("spmv", to_string(kernel)), products);
    record.add(name_of<T>("residual", to_string(kernel)), residuals);
    record.add(name_of<T>("spmv_together", to_string(kernel)), together);
}

/// Row i, or column i, is the left, or right, factor of a hard sum: C_ii is that sum.
template <class T>
std::vector<Terms<T>> hard_lines(std::uint64_t seed, std::int64_t lines, std::int64_t inner) {
    Random random(seed);
    std::vector<Terms<T>> made;
    while (static_cast<std::int64_t>(made.size()) < lines) {
        Terms<T> terms = (Maker<T>(random.bits(), true).*families<T>[made.size() % std::size(families<T>)].make)(inner);
        while (terms.size() < inner) terms.add(T(0), T(1));
        made.push_back(terms);
    }
    return made;
}

/// Room for a matrix whose leading dimension exceeds what it needs by 3.
template <class T>
MutableDenseView<T> view_of(std::vector<T>& memory, std::int64_t rows, std::int64_t columns, bool by_rows) {
    const std::int64_t leading = (by_rows ? columns : rows) + 3;
    memory.assign(static_cast<std::size_t>(leading * (by_rows ? rows : columns)), T(0));
    return {rows, columns, by_rows ? leading : 1, by_rows ? 1 : leading, memory.data()};
}

template <class T>
T& element(const MutableDenseView<T>& view, std::int64_t i, std::int64_t j) {
    return view.data[i * view.row_stride + j * view.column_stride];
}

template <class T>
struct DenseInputs {
    DenseInputs(std::int64_t m, std::int64_t n, std::int64_t inner, int layout)
        : a(view_of(a_memory, m, inner, (layout & 1) != 0)),
          b(view_of(b_memory, inner, n, (layout & 2) != 0)),
          c(view_of(c_memory, m, n, (layout & 4) != 0)) {
        const auto lines = hard_lines<T>(11, std::max(m, n), inner);
        for (std::int64_t k = 0; k < inner; ++k) {
            for (std::int64_t i = 0; i < m; ++i) element(a, i, k) = lines[i].x[k];
            for (std::int64_t j = 0; j < n; ++j) element(b, k, j) = lines[j].y[k];
        }
        const std::vector<T> addends = numbers<T>(12, m * n, -30, 30);
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) element(c, i, j) = addends[i * n + j];
    }

    std::vector<T> elements_of_c() const {
        std::vector<T> elements;
        for (std::int64_t i = 0; i < c.rows; ++i)
            for (std::int64_t j = 0; j < c.columns; ++j) elements.push_back(element(c, i, j));
        return elements;
    }

    std::vector<T> a_memory, b_memory, c_memory;
    MutableDenseView<T> a, b, c;
};

template <class T>
void record_gemm(Record& record, const Device& device, int layout) {
    Digest digest;
    for (const auto& [m, n, inner] : {std::array{23, 31, 40}, std::array{1, 18, 700}, std::array{70, 5, 9}})
        for (const auto& [alpha, beta] : factor_pairs<T>()) {
            const DenseInputs<T> inputs(m, n, inner, layout);
            gemm(alpha, inputs.a, inputs.b, beta, inputs.c, record.accuracy(), device);
            digest.add(inputs.elements_of_c());
        }
    const auto order = [&](int matrix) { return (layout & matrix) != 0 ? 'r' : 'c'; };
    record.add(name_of<T>("gemm", std::string{order(1), order(2), order(4)}), digest);
}

template <class T>
void record_gemv(Record& record, const Device& device, bool by_rows) {
    const DenseInputs<T> inputs(64, 9, 300, by_rows ? 1 : 0);
    const DenseView<T> a = inputs.a;
    Digest products, residuals;
    for (std::int64_t j = 0; j < 9; ++j) {
        std::vector<T> x, low;
        for (std::int64_t k = 0; k < 300; ++k) {
            x.push_back(element(inputs.b, k, j));
            low.push_back(std::ldexp(element(inputs.b, k, (j + 1) % 9), -60));
        }
        const std::vector<T> b = numbers<T>(static_cast<std::uint64_t>(j), 64, -30, 30);
        for (const auto& [alpha, beta] : factor_pairs<T>()) {
            std::vector<T> y = b;
            gemv(alpha, a, x, beta, y, record.accuracy(), device);
            products.add(y);
        }
        std::vector<T> r(64);
        residual(b, a, x, low, r, record.accuracy(), device);
        residuals.add(r);
    }
    const char* const layout = by_rows ? "rows" : "columns";
    record.add(name_of<T>("gemv", layout), products);
    record.add(name_of<T>("dense_residual", layout), residuals);
}

template <class T>
void record_products_of(Record& record, const Device& device) {
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) record_sparse<T>(record, device, kernel);
    if (device.kind() != Device::Kind::cpu) return;
    for (const bool by_rows : {false, true}) record_gemv<T>(record, device, by_rows);
}

}  // namespace

void record_products(Record& record, const Device& device) {
    record_products_of<float>(record, device);
    record_products_of<double>(record, device);
}

void record_dense_products(Record& record, const Device& device) {
    for (int layout = 0; layout < 8; ++layout) record_gemm<float>(record, device, layout);
    for (int layout = 0; layout < 8; ++layout) record_gemm<double>(record, device, layout);
}

}  // namespace solver::frozen
