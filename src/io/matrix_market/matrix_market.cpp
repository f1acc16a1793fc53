#include "solver/matrix_market.hpp"

#include "core/csr_assembly.hpp"
#include "core/floating_point_guard.hpp"
#include "core/machine.hpp"
#include "core/nonzero_elements.hpp"
#include "io/matrix_market/parse.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <new>

namespace solver {
namespace {

using namespace matrix_market;

/// A short file can declare any number of rows. Linux grants more memory than there is and kills who uses it.
template <class Element>
void refuse_beyond_memory(std::int64_t rows, std::int64_t columns) {
    const auto memory = static_cast<std::uint64_t>(available_memory());
    const auto elements = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns);  // below 2^31 each
    if (elements > memory / sizeof(Element)) throw std::bad_alloc();
}

/// The result of work(), where too little memory is a FileError.
template <class Work>
auto within_memory(const std::filesystem::path& path, const Work& work) try {
    return work();
} catch (const std::bad_alloc&) {
    throw FileError(path.string(), 0, "not enough memory for this matrix");
}

template <class T>
bool is_finite(T value) {
    if constexpr (is_complex<T>)
        return std::isfinite(value.real()) && std::isfinite(value.imag());
    else
        return std::isfinite(value);
}

/// A complex file holds no real matrix, also where every imaginary part is 0.
template <class T>
void require_readable(const Header& header, const std::string& path) {
    if (is_complex<T> || header.field != Field::complex) return;
    throw FileError(path, 1,
                    "the matrix is complex, and real numbers were asked for; ask for complex ones (std::complex, complex128)");
}

/// Throws where entries at one place have a sum beyond the range of T.
template <class T>
void check_sums(const CsrMatrix<T>& matrix, const std::string& path) {
    const auto sum = std::find_if(matrix.values.begin(), matrix.values.end(), [](T value) { return !is_finite(value); });
    if (sum == matrix.values.end()) return;
    const std::int64_t k = sum - matrix.values.begin();
    const auto row = std::upper_bound(matrix.row_offsets.begin(), matrix.row_offsets.end(), k) - matrix.row_offsets.begin();
    throw FileError(path, 0,
                    fmt::format("the sum of the entries at row {}, column {} is beyond the range of {} precision", row,
                                matrix.column_indices[k] + 1, std::is_same_v<RealOf<T>, float> ? "single" : "double"));
}

/// The matrix of a coordinate file.
template <class T>
CsrMatrix<T> read_coordinates(TextBlocks& blocks, TextBlock block, const Header& header, int threads) {
    const std::vector<Parsed<Entry<T>>> parsed = parse_all<Entry<T>>(blocks, std::move(block), header, threads);
    refuse_beyond_memory<std::int64_t>(header.rows + 1, 2);  // and at least as much is needed to use it
    std::vector<std::span<const Entry<T>>> parts;
    for (const Parsed<Entry<T>>& part : parsed) parts.emplace_back(part.items);
    Assembly<T> assembly = assemble<T>(header.rows, header.columns, parts, header.symmetry, threads);
    if (assembly.repeated_entries > 0) check_sums(assembly.matrix, blocks.path());
    return std::move(assembly.matrix);
}

/// The whole square matrix from its lower triangle, packed column by column; of a skew-symmetric one without the diagonal.
template <class T>
std::vector<T> expand_triangle(const std::vector<T>& packed, std::int64_t n, Symmetry symmetry) {
    const bool skew = symmetry == Symmetry::skew_symmetric;
    std::vector<T> values(n * n);
    std::size_t next = 0;
    for (std::int64_t column = 0; column < n; ++column)
        for (std::int64_t row = column + (skew ? 1 : 0); row < n; ++row) {
            const T value = packed[next++];
            values[column * n + row] = value;
            if (row != column) values[row * n + column] = mirrored(value, symmetry);
        }
    return values;
}

/// The matrix of an array file.
template <class T>
DenseMatrix<T> read_array(TextBlocks& blocks, TextBlock block, const Header& header, int threads) {
    std::vector<Parsed<T>> parsed = parse_all<T>(blocks, std::move(block), header, threads);
    refuse_beyond_memory<T>(header.rows, header.columns);
    std::vector<T> stored;
    stored.reserve(header.entries);
    for (Parsed<T>& part : parsed) {
        stored.insert(stored.end(), part.items.begin(), part.items.end());
        part.items = {};
    }
    if (header.symmetry != Symmetry::general) stored = expand_triangle(stored, header.rows, header.symmetry);
    return {header.rows, header.columns, std::move(stored)};
}

template <class T>
std::vector<T> all_elements(const CsrMatrix<T>& matrix) {
    refuse_beyond_memory<T>(matrix.rows, matrix.columns);
    std::vector<T> elements(matrix.rows * matrix.columns);
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
            elements[row * matrix.columns + matrix.column_indices[k]] = matrix.values[k];
    return elements;
}

template <class T>
using AnyMatrix = std::variant<CsrMatrix<T>, DenseMatrix<T>>;

}  // namespace

bool holds_complex_numbers(const std::filesystem::path& path) {
    if (std::error_code error; std::filesystem::is_fifo(path, error))
        throw FileError(path.string(), 0, "is a pipe, which can be read only once; expected a file");
    TextBlocks blocks(path);
    TextBlock block;
    return read_header(blocks, block).field == Field::complex;
}

template <class T>
AnyMatrix<T> read_matrix_market(const std::filesystem::path& path, const MatrixMarketOptions& options) {
    const cpu::FloatingPointGuard guard;
    const int threads = Device::cpu(options.threads).threads();
    return within_memory(path, [&]() -> AnyMatrix<T> {
        TextBlocks blocks(path);
        TextBlock block;
        const Header header = read_header(blocks, block);
        require_readable<T>(header, blocks.path());
        if (header.format == Format::coordinate) return read_coordinates<T>(blocks, std::move(block), header, threads);
        return read_array<T>(blocks, std::move(block), header, threads);
    });
}

template <class T>
CsrMatrix<T> read_csr(const std::filesystem::path& path, const MatrixMarketOptions& options) {
    AnyMatrix<T> matrix = read_matrix_market<T>(path, options);
    if (CsrMatrix<T>* sparse = std::get_if<CsrMatrix<T>>(&matrix)) return std::move(*sparse);
    const int threads = Device::cpu(options.threads).threads();
    return within_memory(path, [&] { return nonzero_elements(std::get<DenseMatrix<T>>(matrix).view(), threads); });
}

template <class T>
std::vector<T> read_vector(const std::filesystem::path& path, const MatrixMarketOptions& options) {
    AnyMatrix<T> matrix = read_matrix_market<T>(path, options);
    std::visit(
        [&](const auto& any) {
            if (any.rows != 1 && any.columns != 1)
                throw FileError(
                    path.string(), 0,
                    fmt::format("the matrix is {} x {}; expected a vector: one column or one row", any.rows, any.columns));
        },
        matrix);
    if (DenseMatrix<T>* dense = std::get_if<DenseMatrix<T>>(&matrix)) return std::move(dense->values);
    return within_memory(path, [&] { return all_elements(std::get<CsrMatrix<T>>(matrix)); });
}

template std::variant<CsrMatrix<float>, DenseMatrix<float>> read_matrix_market(const std::filesystem::path&,
                                                                               const MatrixMarketOptions&);
template std::variant<CsrMatrix<double>, DenseMatrix<double>> read_matrix_market(const std::filesystem::path&,
                                                                                 const MatrixMarketOptions&);
template std::variant<CsrMatrix<std::complex<float>>, DenseMatrix<std::complex<float>>> read_matrix_market(
    const std::filesystem::path&, const MatrixMarketOptions&);
template std::variant<CsrMatrix<std::complex<double>>, DenseMatrix<std::complex<double>>> read_matrix_market(
    const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<float> read_csr(const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<double> read_csr(const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<std::complex<float>> read_csr(const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<std::complex<double>> read_csr(const std::filesystem::path&, const MatrixMarketOptions&);
template std::vector<float> read_vector(const std::filesystem::path&, const MatrixMarketOptions&);
template std::vector<double> read_vector(const std::filesystem::path&, const MatrixMarketOptions&);
template std::vector<std::complex<float>> read_vector(const std::filesystem::path&, const MatrixMarketOptions&);
template std::vector<std::complex<double>> read_vector(const std::filesystem::path&, const MatrixMarketOptions&);

}  // namespace solver
