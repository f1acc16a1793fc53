#include "linear_system.hpp"

#include "auto_solve/vector_copy.hpp"
#include "core/huge_pages.hpp"
#include "core/machine.hpp"
#include "cpu/elementwise.hpp"
#include "matrices/random.hpp"
#include "solver/complex.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace solver::command {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// A multiple of 2 u in [-1, 1), every one equally likely; exact.
template <class T>
T uniform(std::uint64_t random_bits) {
    constexpr int digits = std::numeric_limits<T>::digits;
    const auto shifted = static_cast<std::int64_t>(random_bits >> (64 - digits)) - (std::int64_t{1} << (digits - 1));
    return std::ldexp(static_cast<T>(shifted), 1 - digits);
}

template <class T>
std::vector<T> random_vector(std::int64_t size, std::uint64_t seed) {
    matrices::Random random(seed);
    std::vector<T> values(size);
    for (T& value : values) value = uniform<T>(random.bits());
    return values;
}

/// ones(), made by the device: a part, and copies of what is there.
template <class T>
cuda::DeviceArray<T> ones_on_device(std::int64_t size, bool is_complex, const Device& device) {
    constexpr std::int64_t first_part = 1 << 16;
    cuda::DeviceArray<T> all(device.index(), size, "a vector of ones");
    std::int64_t done = std::min(size, first_part);
    all.copy_from(ones<T>(done, is_complex, device));
    for (; done < size; done *= 2) {
        const std::int64_t more = std::min(done, size - done);
        all.part(done, more).copy_from(std::span<const T>(all.data(), static_cast<std::size_t>(more)));
    }
    return all;
}

template <class T>
std::vector<T> product_with_ones(const SpmvPlan<T>& a, bool is_complex, ClearedVectors<T>& cleared) {
    std::vector<T> b = cleared.take(a.rows(), a.device().threads());
    const auto multiply = [&](std::span<const T> x) { a.multiply(T{1}, x, T{0}, b, Accuracy::exact); };
    if (a.device().kind() == Device::Kind::cpu) {
        multiply(ones<T>(a.columns(), is_complex, a.device()));
    } else {
        const auto x = ones_on_device<T>(a.columns(), is_complex, a.device());
        multiply({x.data(), static_cast<std::size_t>(x.size())});
    }
    return b;
}

template <class T>
DenseMatrix<T> one_column(std::vector<T> values) {
    const auto rows = std::ssize(values);
    return {rows, 1, std::move(values)};
}

template <class T>
DenseMatrix<T> as_dense(const CsrMatrix<T>& sparse) {
    if (sparse.columns > 0 && sparse.rows > available_memory() / static_cast<std::int64_t>(sizeof(T)) / sparse.columns)
        throw ResourceLimit(
            fmt::format("{} vectors of {} elements are more than this process may hold", sparse.columns, sparse.rows));
    DenseMatrix<T> dense{sparse.rows, sparse.columns, std::vector<T>(static_cast<std::size_t>(sparse.rows * sparse.columns))};
    for (std::int64_t i = 0; i < sparse.rows; ++i)
        for (std::int64_t k = sparse.row_offsets[i]; k < sparse.row_offsets[i + 1]; ++k)
            dense.values[sparse.column_indices[k] * sparse.rows + i] = sparse.values[k];
    return dense;
}

template <class T>
CsrMatrix<T> as_sparse(const DenseMatrix<T>& dense) {
    std::vector<Entry<T>> entries;
    for (std::int64_t j = 0; j < dense.columns; ++j)
        for (std::int64_t i = 0; i < dense.rows; ++i)
            entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                               dense.values[static_cast<std::size_t>(j * dense.rows + i)]});
    return csr_from_entries<T>(dense.rows, dense.columns, entries);
}

/// A file of vectors, one a column; a single row counts as a column.
template <class T>
DenseMatrix<T> read_columns_of(const std::filesystem::path& path, int threads, std::int64_t rows, std::string_view role) {
    auto read = read_matrix_market<T>(path, {.threads = threads});
    const auto shape = std::visit([](const auto& any) { return std::pair(any.rows, any.columns); }, read);
    const bool is_row = shape.first == 1 && shape.second == rows;
    if (shape.first != rows && !is_row)
        throw DimensionMismatch(fmt::format("{}: {} rows and {} columns, but {} needs {} rows, as many as the matrix has",
                                            path.string(), shape.first, shape.second, role, rows));
    if (shape.second == 0) throw DimensionMismatch(fmt::format("{}: no column; {} needs at least one", path.string(), role));
    DenseMatrix<T> vectors = std::holds_alternative<DenseMatrix<T>>(read) ? std::get<DenseMatrix<T>>(std::move(read))
                                                                          : as_dense(std::get<CsrMatrix<T>>(read));
    if (is_row) std::swap(vectors.rows, vectors.columns);
    return vectors;
}

/// Vectors of so many components. A real file gives complex vectors without imaginary parts.
template <class T>
DenseMatrix<T> read_columns(const std::filesystem::path& path, int threads, std::int64_t components, std::string_view role,
                            bool is_complex) {
    if (!is_complex) {
        if (solver::holds_complex_numbers(path))
            throw InvalidArgument(
                fmt::format("{}: complex numbers, but the matrix is real, and {} must be, too; a matrix in a "
                            "file of complex numbers takes both",
                            path.string(), role));
        return read_columns_of<T>(path, threads, components, role);
    }
    const auto z = read_columns_of<std::complex<T>>(path, threads, components / 2, role);
    const std::span<const T> parts = real_view(std::span(z.values));
    return {components, z.columns, {parts.begin(), parts.end()}};
}

template <class T>
using AnyMatrix = std::variant<CsrMatrix<T>, DenseMatrix<T>>;

bool holds_complex_numbers(const matrices::FoundMatrix& found) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source)) return solver::holds_complex_numbers(*path);
    return std::get<matrices::Generator>(found.source).is_complex();
}

template <class T>
CsrMatrix<std::complex<T>> load_complex(const matrices::FoundMatrix& found, int threads) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source))
        return read_csr<std::complex<T>>(*path, {.threads = threads});
    auto made = std::get<matrices::Generator>(found.source).make_complex();
    if constexpr (std::is_same_v<T, double>) {
        return made;
    } else {
        return convert<std::complex<T>>(made.view());
    }
}

template <class T>
AnyMatrix<T> load(const matrices::FoundMatrix& found, int threads) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source))
        return read_matrix_market<T>(*path, {.threads = threads});
    auto made = std::get<matrices::Generator>(found.source).make();
    if constexpr (std::is_same_v<T, double>) {
        return made;
    } else {
        return convert<T>(made.view());
    }
}

template <class T>
DenseMatrix<T> transposed(DenseMatrix<T> square) {
    const std::int64_t n = square.rows;
    constexpr std::int64_t block = 32;  // whose lines stay in the nearest cache
    for (std::int64_t first = 0; first < n; first += block)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = std::max(first, j + 1); i < std::min(first + block, n); ++i)
                std::swap(square.values[j * n + i], square.values[i * n + j]);
    return square;
}

}  // namespace

template <class T>
LoadedMatrix<T> load_matrix(const matrices::FoundMatrix& found, int threads) {
    if (holds_complex_numbers(found)) {
        const CsrMatrix<std::complex<T>> matrix = load_complex<T>(found, threads);
        return {real_form(matrix.view()), true, matrix.nonzeros()};
    }
    AnyMatrix<T> matrix = load<T>(found, threads);
    if (auto* dense = std::get_if<DenseMatrix<T>>(&matrix)) {
        if (dense->rows != dense->columns) return {as_sparse(*dense)};
        return {DenseRows<T>{transposed(std::move(*dense))}};
    }
    return {std::get<CsrMatrix<T>>(std::move(matrix))};
}

template <class T>
std::vector<T> ones(std::int64_t size, bool is_complex, const Device& device) {
    std::vector<T> ones = zeros<T>(size, device.threads());
    cpu::update(std::span<T>(ones), device, [=](T, std::int64_t i) { return T(is_complex && i % 2 == 1 ? 0 : 1); });
    return ones;
}

std::string name_of(const matrices::FoundMatrix& found) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source)) return path->string();
    return std::get<matrices::Generator>(found.source).name;
}

template <class T>
DenseMatrix<T> make_rhs(const Options& options, const SpmvPlan<T>& a, bool is_complex, ClearedVectors<T>& cleared) {
    const std::int64_t rows = a.rows();
    return std::visit(Overloaded{
                          [&](RhsOfOnes) { return one_column(product_with_ones(a, is_complex, cleared)); },
                          [&](RhsOnes) { return one_column(ones<T>(rows, is_complex, a.device())); },
                          [&](RhsRandom random) { return one_column(random_vector<T>(rows, random.seed)); },
                          [&](const RhsFile& file) {
                              std::error_code error;
                              if (!std::filesystem::exists(file.path, error) && !error)
                                  throw FileError(
                                      file.path.string(), 0,
                                      "there is no such file; --rhs takes one, or ones, A*ones, random or random:SEED");
                              return read_columns<T>(file.path, options.threads, rows, "the right-hand side", is_complex);
                          },
                      },
                      options.rhs);
}

template <class T>
std::optional<DenseMatrix<T>> read_initial(const Options& options, std::int64_t rows, std::int64_t right_hand_sides,
                                           bool is_complex) {
    if (options.initial.empty()) return std::nullopt;
    auto initial = read_columns<T>(options.initial, options.threads, rows, "the initial guess", is_complex);
    if (initial.columns != right_hand_sides)
        throw DimensionMismatch(fmt::format("{}: {} columns, but there are {} right-hand sides, and each needs a guess",
                                            options.initial.string(), initial.columns, right_hand_sides));
    return initial;
}

template <class T>
DenseMatrix<T> first_x(const SpmvPlan<T>& a, const std::optional<DenseMatrix<T>>& initial, std::int64_t right_hand_sides,
                       ClearedVectors<T>& cleared) {
    const std::int64_t rows = a.columns();
    if (initial) return {rows, right_hand_sides, copied<T>(initial->values, a.device())};
    return {rows, right_hand_sides, cleared.take(rows * right_hand_sides, a.device().threads())};
}

std::vector<double> make_near_null_space(const Options& options, std::int64_t rows, bool is_complex) {
    if (options.near_null.empty()) return {};
    std::vector<double> vectors =
        read_columns<double>(options.near_null, options.threads, rows, "the near-null space", is_complex).values;
    if (!is_complex) return vectors;
    const std::size_t parts = vectors.size();
    for (std::size_t k = 0; k < parts; k += 2) vectors.insert(vectors.end(), {-vectors[k + 1], vectors[k]});
    return vectors;
}

std::vector<std::int32_t> make_blocks(std::int64_t block_size, std::int64_t rows) {
    std::vector<std::int32_t> block_of_row;
    if (block_size == 0) return block_of_row;
    block_of_row.reserve(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) block_of_row.push_back(static_cast<std::int32_t>(row / block_size));
    return block_of_row;
}

std::string describe(const Rhs& rhs) {
    return std::visit(Overloaded{
                          [](RhsOfOnes) -> std::string { return "A * ones, formed exactly and rounded once"; },
                          [](RhsOnes) -> std::string { return "ones"; },
                          [](RhsRandom random) { return fmt::format("random in [-1, 1), seed {}", random.seed); },
                          [](const RhsFile& file) { return file.path.string(); },
                      },
                      rhs);
}

template LoadedMatrix<double> load_matrix(const matrices::FoundMatrix&, int);
template LoadedMatrix<float> load_matrix(const matrices::FoundMatrix&, int);
template std::vector<double> ones(std::int64_t, bool, const Device&);
template std::vector<float> ones(std::int64_t, bool, const Device&);
template DenseMatrix<double> make_rhs(const Options&, const SpmvPlan<double>&, bool, ClearedVectors<double>&);
template DenseMatrix<float> make_rhs(const Options&, const SpmvPlan<float>&, bool, ClearedVectors<float>&);
template std::optional<DenseMatrix<double>> read_initial(const Options&, std::int64_t, std::int64_t, bool);
template std::optional<DenseMatrix<float>> read_initial(const Options&, std::int64_t, std::int64_t, bool);
template DenseMatrix<double> first_x(const SpmvPlan<double>&, const std::optional<DenseMatrix<double>>&, std::int64_t,
                                     ClearedVectors<double>&);
template DenseMatrix<float> first_x(const SpmvPlan<float>&, const std::optional<DenseMatrix<float>>&, std::int64_t,
                                    ClearedVectors<float>&);

}  // namespace solver::command
