#include "linear_system.hpp"

#include "matrices/random.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

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

template <class T>
std::vector<T> product_with_ones(const SpmvPlan<T>& a) {
    const std::vector<T> ones(a.matrix().columns, T{1});
    std::vector<T> b(a.matrix().rows);
    a.multiply(T{1}, ones, T{0}, b, Accuracy::exact);
    return b;
}

template <class T>
std::vector<T> read_for(const std::filesystem::path& path, int threads, std::int64_t rows, std::string_view role) {
    auto vector = read_vector<T>(path, {.threads = threads});
    if (std::ssize(vector) != rows)
        throw DimensionMismatch(
            fmt::format("{}: {} values, but {} needs {}, the rows of the matrix", path.string(), vector.size(), role, rows));
    return vector;
}

template <class T>
CsrMatrix<T> load(const matrices::FoundMatrix& found, int threads) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source)) return read_csr<T>(*path, {.threads = threads});
    auto made = std::get<matrices::Generator>(found.source).make();
    if constexpr (std::is_same_v<T, double>) {
        return made;
    } else {
        return convert<T>(made.view());
    }
}

}  // namespace

template <class T>
CsrMatrix<T> load_square(const matrices::FoundMatrix& found, int threads) {
    auto matrix = load<T>(found, threads);
    if (matrix.rows != matrix.columns)
        throw InvalidArgument(fmt::format("{}: the matrix is {} x {}; BiCGStab solves square systems only", name_of(found),
                                          matrix.rows, matrix.columns));
    return matrix;
}

std::string name_of(const matrices::FoundMatrix& found) {
    if (const auto* path = std::get_if<std::filesystem::path>(&found.source)) return path->string();
    return std::get<matrices::Generator>(found.source).name;
}

template <class T>
std::vector<T> make_rhs(const Options& options, const SpmvPlan<T>& a) {
    const std::int64_t rows = a.matrix().rows;
    return std::visit(
        Overloaded{
            [&](RhsOfOnes) { return product_with_ones(a); },
            [&](RhsOnes) { return std::vector<T>(rows, T{1}); },
            [&](RhsRandom random) { return random_vector<T>(rows, random.seed); },
            [&](const RhsFile& file) { return read_for<T>(file.path, options.threads, rows, "the right-hand side"); },
        },
        options.rhs);
}

template <class T>
std::vector<T> make_initial(const Options& options, const SpmvPlan<T>& a) {
    if (options.initial.empty()) return std::vector<T>(a.matrix().columns, T{0});
    return read_for<T>(options.initial, options.threads, a.matrix().columns, "the initial guess");
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

template CsrMatrix<double> load_square(const matrices::FoundMatrix&, int);
template CsrMatrix<float> load_square(const matrices::FoundMatrix&, int);
template std::vector<double> make_rhs(const Options&, const SpmvPlan<double>&);
template std::vector<float> make_rhs(const Options&, const SpmvPlan<float>&);
template std::vector<double> make_initial(const Options&, const SpmvPlan<double>&);
template std::vector<float> make_initial(const Options&, const SpmvPlan<float>&);

}  // namespace solver::command
