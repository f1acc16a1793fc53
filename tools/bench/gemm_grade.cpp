/// How good products are, after J. Demmel, X. Li, J. Langou, W. Pereira, M. Gates, C. Rubio Gonzalez, How to grade the accuracy
/// of an implementation of the BLAS, 2024: by the growth of their errors with n, on inputs that show which algorithm is at
/// work.

#include "benchmarks.hpp"
#include "grades.hpp"
#include "product_machine.hpp"
#include "result_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace solver::bench {
namespace {

// ---------------------------------------------------------------------------------------------------------------- the inputs

std::string to_string(Pattern pattern) {
    constexpr std::array<const char*, patterns.size()> names{"uniform", "signed", "outside", "inside", "wide", "blocks"};
    return names[static_cast<std::size_t>(pattern)];
}

// ------------------------------------------------------------------------------------------------- what ought to be found out

/// A matrix by columns, and its quarters.
template <class T>
struct Square {
    std::int64_t n;
    std::vector<T> entries;

    Square quarter(int row, int column) const {
        const std::int64_t half = n / 2;
        Square part{half, {}};
        for (std::int64_t j = 0; j < half; ++j) {
            const auto begin = entries.begin() + (column * half + j) * n + row * half;
            part.entries.insert(part.entries.end(), begin, begin + half);
        }
        return part;
    }
    friend Square operator+(Square x, const Square& y) {
        std::transform(x.entries.begin(), x.entries.end(), y.entries.begin(), x.entries.begin(), std::plus<>());
        return x;
    }
    friend Square operator-(Square x, const Square& y) {
        std::transform(x.entries.begin(), x.entries.end(), y.entries.begin(), x.entries.begin(), std::minus<>());
        return x;
    }
};

template <class T>
std::vector<T> multiply_on_processor(const Square<T>& a, const Square<T>& b, Accuracy accuracy) {
    const std::int64_t n = a.n;
    std::vector<T> c(a.entries.size());
    gemm(T(1), {n, n, 1, n, a.entries.data()}, {n, n, 1, n, b.entries.data()}, T(0), {n, n, 1, n, c.data()}, accuracy);
    return c;
}

/// Strassen's algorithm in Winograd's variant, for n a power of two times an odd number below the leaf.
template <class T>
Square<T> strassen(const Square<T>& a, const Square<T>& b) {
    constexpr std::int64_t leaf = 16;
    if (a.n <= leaf || a.n % 2 != 0) return {a.n, multiply_on_processor(a, b, Accuracy::fast)};
    const Square<T> a11 = a.quarter(0, 0), a12 = a.quarter(0, 1), a21 = a.quarter(1, 0), a22 = a.quarter(1, 1);
    const Square<T> b11 = b.quarter(0, 0), b12 = b.quarter(0, 1), b21 = b.quarter(1, 0), b22 = b.quarter(1, 1);
    const Square<T> s1 = a21 + a22, s2 = s1 - a11, t1 = b12 - b11, t2 = b22 - t1;
    const Square<T> p = strassen(a11, b11);
    const Square<T> u = p + strassen(s2, t2);
    const Square<T> v = u + strassen(a11 - a21, b22 - b12), w = strassen(s1, t1);
    const std::array c{p + strassen(a12, b21), v - strassen(a22, t2 - b21), u + w + strassen(a12 - s2, b22), v + w};
    Square<T> joined{a.n, {}};
    for (const std::size_t column : {std::size_t{0}, std::size_t{2}})
        for (std::int64_t j = 0; j < a.n / 2; ++j)
            for (const Square<T>& part : {std::cref(c[column]), std::cref(c[column + 1])}) {
                const auto begin = part.entries.begin() + j * part.n;
                joined.entries.insert(joined.entries.end(), begin, begin + part.n);
            }
    return joined;
}

/// Entries rounded to multiples of u times the largest of their row of A, or column of B; these are multiplied exactly.
template <class T>
std::vector<T> multiply_in_fixed_point(const DenseFactors<T>& factors) {
    const auto round = [n = factors.n](std::vector<T> entries, std::int64_t line_stride, std::int64_t stride) {
        for (std::int64_t line = 0; line < n; ++line) {
            T largest = 0;
            const auto entry = [&](std::int64_t k) -> T& {
                return entries[static_cast<std::size_t>(line * line_stride + k * stride)];
            };
            for (std::int64_t k = 0; k < n; ++k) largest = std::max(largest, std::abs(entry(k)));
            if (largest == 0) continue;
            const T unit = std::ldexp(unit_roundoff<T>, std::ilogb(largest) + 1);
            for (std::int64_t k = 0; k < n; ++k) entry(k) = std::nearbyint(entry(k) / unit) * unit;
        }
        return entries;
    };
    return multiply_on_processor<T>({factors.n, round(factors.a, 1, factors.n)}, {factors.n, round(factors.b, factors.n, 1)},
                                    Accuracy::exact);
}

// ------------------------------------------------------------------------------------------------------------- their errors

/// The largest entries of the lines.
template <class T>
std::vector<double> largest_of_lines(const std::vector<T>& entries, std::int64_t n, bool rows) {
    std::vector<double> largest(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        double& line = largest[i % static_cast<std::size_t>(n)];
        double& other = largest[i / static_cast<std::size_t>(n)];
        double& place = rows ? line : other;
        place = std::max(place, std::abs(static_cast<double>(entries[i])));
    }
    return largest;
}

template <class T>
class Judge {
public:
    Judge(const DenseFactors<T>& factors, int threads)
        : n_(factors.n),
          samples_(factors, threads),
          rows_(largest_of_lines(factors.a, n_, true)),
          columns_(largest_of_lines(factors.b, n_, false)) {}

    std::vector<std::int64_t> places() const { return samples_.places(); }

    ScaledErrors errors(const std::vector<T>& found) const {
        ScaledErrors errors;
        const double unit = double{unit_roundoff<T>} * static_cast<double>(n_);
        const double whole =
            *std::max_element(rows_.begin(), rows_.end()) * *std::max_element(columns_.begin(), columns_.end());
        for (std::size_t s = 0; s < found.size(); ++s) {
            const auto& sample = samples_.samples()[s];
            const double error = sample.error(found[s]);
            if (error == 0) continue;
            const double row = rows_[static_cast<std::size_t>(sample.place % n_)];
            const double column = columns_[static_cast<std::size_t>(sample.place / n_)];
            errors.componentwise = larger_error(error / (double{unit_roundoff<T>} * sample.magnitudes), errors.componentwise);
            errors.linewise = larger_error(error / (unit * row * column), errors.linewise);
            errors.normwise = larger_error(error / (unit * whole), errors.normwise);
        }
        return errors;
    }

private:
    std::int64_t n_;
    ProductSamples<T> samples_;
    std::vector<double> rows_, columns_;
};

// --------------------------------------------------------------------------------------------------------------- the grades

class Grading {
public:
    explicit Grading(const Options& options) : options_(options) {}

    bool run() {
        fmt::print(
            "\nGrades, after Demmel et al.: the largest |error| / (u |A||B|) of up to {} elements of C, on entries in [0, 1)\n"
            "  signed   of both signs\n"
            "  outside  times powers of two, D A and B E\n"
            "  inside   times powers of two, A D and D^-1 B: exposes fixed-point numbers\n"
            "  wide     times powers of two, every entry by its own\n"
            "  blocks   small off the diagonal blocks: exposes Strassen's algorithm\n"
            "slope: of the errors' growth with n, log-log, on uniform or signed entries. Grades, on all inputs at n = {}:\n"
            "  A  componentwise, error <= gamma_n |A||B| with slope <= 1    B  error <= gamma_n n max|a_i| max|b_j|, by rows "
            "and\n"
            "  columns    C  error <= gamma_n n max|A| max|B|    unsafe  none of these\n",
            ProductSamples<double>::most, fmt::join(options_.sizes, ", "));
        bool kept = true;
        if (options_.in_double) kept = grade<double>() && kept;
        if (options_.in_single) kept = grade<float>() && kept;
        lines_.write(options_, "gemm --grade", write_file);
        return kept;
    }

private:
    template <class T>
    bool grade() {
        std::vector<std::pair<std::string, GradedErrors>> records;
        const auto machine = make_product_machine<T>(options_);
        for (const std::int64_t n : options_.sizes)
            for (const Pattern pattern : patterns) {
                const DenseFactors<T> factors = graded_factors<T>(pattern, n);
                const Judge<T> judge(factors, options_.threads);
                const auto keep = [&](const std::string& name, const std::vector<T>& found) {
                    auto record = std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.first == name; });
                    if (record == records.end()) record = records.insert(records.end(), {name, {}});
                    const ScaledErrors& errors = record->second.errors[pattern][n] = judge.errors(found);
                    lines_.add({name, precision_name<T>, to_string(pattern), std::to_string(n),
                                fmt::format("{:.4g}", errors.componentwise), fmt::format("{:.4g}", errors.linewise),
                                fmt::format("{:.4g}", errors.normwise)});
                };
                machine->load(factors);
                std::vector<ProductWay> ways = machine->ours(options_.block);
                for (ProductWay& peer : machine->peers()) ways.push_back(std::move(peer));
                if (pattern != Pattern::both)
                    for (ProductWay& way : machine->nonnegative()) ways.push_back(std::move(way));
                for (const ProductWay& way : ways) {
                    way.multiply();
                    keep(way.name, machine->result(judge.places()));
                }
                const auto keep_whole = [&](const std::string& name, const std::vector<T>& c) {
                    std::vector<T> found;
                    for (const std::int64_t place : judge.places()) found.push_back(c[static_cast<std::size_t>(place)]);
                    keep(name, found);
                };
                keep_whole("(strassen)", strassen<T>({n, factors.a}, {n, factors.b}).entries);
                keep_whole("(fixed point)", multiply_in_fixed_point(factors));
            }
        print<T>(records);
        return std::all_of(records.begin(), records.begin() + all_accuracies.size(),
                           [](const auto& record) { return record.second.template grade<T>() == "A"; });
    }

    template <class T>
    void print(const std::vector<std::pair<std::string, GradedErrors>>& records) const {
        const std::int64_t n = *std::max_element(options_.sizes.begin(), options_.sizes.end());
        fmt::print("\n{}, errors at n = {}\n", precision_name<T>, n);
        std::vector<Measure> columns{{"way", ""}};
        for (const Pattern pattern : patterns) columns.push_back({to_string(pattern), ""});
        columns.insert(columns.end(), {{"slope", ""}, {"grade", ""}});
        ResultTable table(columns);
        for (const auto& [name, record] : records) {
            std::vector<std::string> row{name};
            for (const Pattern pattern : patterns) row.push_back(record.text(pattern, n));
            row.push_back(fmt::format("{:.2f}", record.slope()));
            row.push_back(record.template grade<T>());
            table.add(std::move(row));
        }
        table.print();
    }

    const Options& options_;
    ResultTable lines_{{{"way", "way"},
                        {"precision", "precision"},
                        {"input", "input"},
                        {"n", "size"},
                        {"componentwise", "componentwise_error"},
                        {"linewise", "linewise_error"},
                        {"normwise", "normwise_error"}}};
};

}  // namespace

bool bench_grades(const Options& options) {
    for (const std::int64_t n : options.sizes) require_memory_for_product(n);
    return Grading(options).run();
}

}  // namespace solver::bench
