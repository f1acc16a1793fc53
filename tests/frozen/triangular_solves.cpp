#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "solver/triangular_solve.hpp"

#include <algorithm>

namespace solver::frozen {
namespace {

/// Lower triangular rows: first one for each right factor of a hard sum, pivot 1, then one for each sum, pivots drawn, then
/// rows of any numbers.
template <class T>
struct HardTriangle {
    std::vector<std::vector<std::pair<std::int64_t, T>>> beside;
    std::vector<T> pivots;
    std::vector<T> b;

    std::int64_t size() const { return static_cast<std::int64_t>(pivots.size()); }
    void add(std::vector<std::pair<std::int64_t, T>> row, T pivot, T right_hand_side) {
        beside.push_back(std::move(row));
        pivots.push_back(pivot);
        b.push_back(right_hand_side);
    }
};

template <class T>
HardTriangle<T> hard_triangle(std::uint64_t seed, bool with_specials) {
    Random random(seed);
    HardTriangle<T> made;
    for (const Family<T>& family : families<T>) {
        if (!with_specials && std::string(family.name) == "special") continue;
        const Terms<T> terms = (Maker<T>(random.bits(), true).*family.make)(between(random, 8, 40));
        std::vector<std::pair<std::int64_t, T>> row;
        for (std::int64_t k = 0; k < terms.size(); ++k) {
            row.emplace_back(made.size(), terms.x[k]);
            made.add({}, T(1), terms.y[k]);
        }
        const T b = number<T>(random, between(random, -60, 9));
        made.add(row, number<T>(random, between(random, -30, 30)), b);
    }
    const std::int64_t hard = made.size();
    for (std::int64_t i = 0; i < 600; ++i) {
        std::vector<std::pair<std::int64_t, T>> row;
        for (std::int64_t j = std::max(hard, made.size() - between(random, 1, 40)); j < made.size(); j += between(random, 1, 4))
            row.emplace_back(j, number<T>(random, between(random, -12, -5)));
        const T b = number<T>(random, between(random, -4, 4));
        made.add(row, number<T>(random, between(random, -1, 2)), b);
    }
    return made;
}

/// As a lower triangle, or turned round as an upper one.
template <class T>
CsrMatrix<T> sparse(const HardTriangle<T>& from, Triangle triangle, Diagonal diagonal) {
    const std::int64_t n = from.size();
    std::vector<Entry<T>> entries;
    const auto place = [&](std::int64_t i) { return static_cast<std::int32_t>(triangle == Triangle::lower ? i : n - 1 - i); };
    for (std::int64_t i = 0; i < n; ++i) {
        for (const auto& [j, value] : from.beside[i]) entries.push_back({place(i), place(j), value});
        if (diagonal == Diagonal::stored) entries.push_back({place(i), place(i), from.pivots[i]});
    }
    return csr_from_entries<T>(n, n, entries);
}

template <class T>
std::vector<T> in_order(std::vector<T> values, Triangle triangle) {
    if (triangle == Triangle::upper) std::reverse(values.begin(), values.end());
    return values;
}

template <class T>
std::vector<T> dense(const CsrMatrix<T>& a, bool by_rows) {
    std::vector<T> values(static_cast<std::size_t>(a.rows * a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            values[by_rows ? i * a.rows + a.column_indices[k] : i + a.column_indices[k] * a.rows] = a.values[k];
    return values;
}

template <class T>
void record_triangle(Record& record, const Device& device, Triangle triangle, Diagonal diagonal) {
    Digest solves, dense_solves;
    for (const bool with_specials : {false, true}) {
        const HardTriangle<T> made = hard_triangle<T>(21, with_specials);
        const CsrMatrix<T> a = sparse(made, triangle, diagonal);
        const std::vector<T> b = in_order(made.b, triangle);
        std::vector<T> x(b.size());
        TriangularSolvePlan<T>(a, triangle, diagonal, device).solve(b, x, record.accuracy());
        solves.add(x);
        if (device.kind() != Device::Kind::cpu || with_specials) continue;  // a stored zero times Inf is NaN
        for (const bool by_rows : {false, true}) {
            const std::vector<T> values = dense(a, by_rows);
            const DenseView<T> view{a.rows, a.rows, by_rows ? a.rows : 1, by_rows ? 1 : a.rows, values.data()};
            triangular_solve(view, triangle, diagonal, b, x, record.accuracy(), device);
            dense_solves.add(x);
        }
    }
    const std::string which =
        std::string(triangle == Triangle::lower ? "lower" : "upper").append(diagonal == Diagonal::unit ? "_unit" : "");
    record.add(name_of<T>("triangular_solve", which), solves);
    if (device.kind() == Device::Kind::cpu) record.add(name_of<T>("dense_triangular_solve", which), dense_solves);
}

}  // namespace

void record_triangular_solves(Record& record, const Device& device) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            record_triangle<float>(record, device, triangle, diagonal);
            record_triangle<double>(record, device, triangle, diagonal);
        }
}

}  // namespace solver::frozen
