#include "preconditioner/gram.hpp"

#include "core/row_ranges.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/rank_update.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace solver {
namespace {

template <class T>
std::vector<double> scaled(std::span<const T> values, double scale, const Device& device) {
    std::vector<double> result(values.size());
    cpu::update(std::span(result), device, [=](double, std::int64_t i) {
        return mul_rn(scale, static_cast<double>(values[static_cast<std::size_t>(i)]));
    });
    return result;
}

class GramRows {
public:
    GramRows(const CsrView<double>& a, const CsrView<double>& transposed)
        : a_(a), transposed_(transposed), row_(transposed.rows) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<double>& values) {
        for (std::int64_t k = transposed_.row_offsets[i]; k < transposed_.row_offsets[i + 1]; ++k) {
            const std::int64_t row = transposed_.column_indices[k], begin = a_.row_offsets[row], length = a_.row_length(row);
            row_.add_multiple(transposed_.values[k], a_.column_indices.subspan(begin, length),
                              a_.values.subspan(begin, length));
        }
        if (row_.size() == 0) row_.add(static_cast<std::int32_t>(i), 1);
        row_.move_to(columns, values);
    }

private:
    CsrView<double> a_, transposed_;
    amg::RowAccumulator row_;
};

}  // namespace

template <class T>
std::optional<CsrMatrix<double>> gram_matrix(const CsrView<T>& a, const CsrView<T>& transposed, double scale,
                                             std::int64_t most_entries, const Device& device) {
    const std::vector<double> values = scaled(a.values, scale, device);
    const std::vector<double> of_transposed = scaled(transposed.values, scale, device);
    const CsrView<double> of_a{a.rows, a.columns, a.row_offsets, a.column_indices, values};
    const CsrView<double> of_a_transposed{transposed.rows, transposed.columns, transposed.row_offsets,
                                          transposed.column_indices, of_transposed};
    return amg::make_rows<double>(
        a.columns, a.columns, device, [&] { return GramRows(of_a, of_a_transposed); }, most_entries);
}

template <class T>
CsrMatrix<double> gram_matrix(const DenseView<T>& a, double scale, const Device& device) {
    const std::int64_t n = a.columns, depth = a.rows, stride = depth + n;
    const auto size = [](std::int64_t rows, std::int64_t columns) { return static_cast<std::size_t>(rows * columns); };
    std::vector<double> right(size(depth, n)), left_and_product(size(n, stride));  // A; rows of A', each before one of -A'A
    for_each_row_range(depth, depth * n, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                right[i * n + j] = mul_rn(scale, static_cast<double>(a.data[i * a.row_stride + j * a.column_stride]));
    });
    CsrMatrix<double> product{n, n, std::vector<std::int64_t>(static_cast<std::size_t>(n) + 1), {}, {}};
    product.column_indices.resize(size(n, n));
    product.values.resize(size(n, n));
    for_each_row_range(n, depth * n, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t cached_depth = 256;
        double* const left = left_and_product.data() + begin * stride;
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t k = 0; k < depth; ++k) left[(i - begin) * stride + k] = right[k * n + i];
        for (std::int64_t k = 0; k < depth; k += cached_depth)
            cpu::subtract_products(end - begin, n, std::min(cached_depth, depth - k), left + k, right.data() + k * n, n,
                                   left + depth, stride);
        for (std::int64_t i = begin; i < end; ++i) {
            const double* const row = left + (i - begin) * stride + depth;
            product.row_offsets[i + 1] = (i + 1) * n;
            std::iota(product.column_indices.begin() + i * n, product.column_indices.begin() + (i + 1) * n, 0);
            std::transform(row, row + n, product.values.begin() + i * n, [](double negative) { return -negative; });
            if (double& diagonal = product.values[i * n + i]; diagonal == 0) diagonal = 1;
        }
    });
    return product;
}

template std::optional<CsrMatrix<double>> gram_matrix(const CsrView<float>&, const CsrView<float>&, double, std::int64_t,
                                                      const Device&);
template std::optional<CsrMatrix<double>> gram_matrix(const CsrView<double>&, const CsrView<double>&, double, std::int64_t,
                                                      const Device&);
template CsrMatrix<double> gram_matrix(const DenseView<float>&, double, const Device&);
template CsrMatrix<double> gram_matrix(const DenseView<double>&, double, const Device&);

}  // namespace solver
