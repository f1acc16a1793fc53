#include "matrices/cancelling.hpp"

#include "matrices/random.hpp"
#include "matrices/row_by_row.hpp"

#include "solver/numeric/superaccumulator.hpp"

#include <algorithm>
#include <vector>

namespace solver::matrices {
namespace {

constexpr std::int64_t shortest = 15;
constexpr std::int64_t longest = 40;
static_assert(cancelling_entries(1) == longest);

/// Numbers of magnitudes up to 2^exponent, of which the second half cancels what came before step by step, until a sum in
/// [1/2, 1) is left.
std::vector<double> cancelling_numbers(Random& random, std::int64_t count, int exponent) {
    std::vector<double> numbers;
    Superaccumulator sum;
    const auto append = [&](double number) {
        numbers.push_back(number);
        sum.add(number);
    };
    const std::int64_t half = count / 2;
    append(0.75 * Random::power_of_two(exponent));
    for (std::int64_t i = 1; i < half; ++i) append(random.signed_uniform(static_cast<int>(random.below(exponent + 1))));
    for (std::int64_t i = half; i < count - 1; ++i) {
        const auto left = static_cast<int>(exponent * (count - 1 - i) / (count - half));
        append(random.signed_uniform(left) - sum.result<double>());
    }
    append(0.5 + 0.5 * random.uniform() - sum.result<double>());
    random.shuffle(numbers);
    return numbers;
}

}  // namespace

CsrMatrix<double> cancelling(std::int64_t n) {
    constexpr int least_exponent = 67;  // 2^67 is above 1e20; twice the numbers' sum of magnitudes below 1e60 / 2^195
    constexpr int greatest_exponent = 194;
    constexpr std::int64_t one_in = 20;
    Random random(3);
    CsrMatrix<double> matrix = empty_matrix(n, cancelling_entries(n));
    std::vector<double> values;
    std::vector<RowEntry> row;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t length = std::min(n, shortest + random.below(longest - shortest + 1));
        if (random.below(one_in) == 0 && length >= shortest) {
            const auto exponent = least_exponent + static_cast<int>(random.below(greatest_exponent - least_exponent + 1));
            values = cancelling_numbers(random, length, exponent);
        } else {
            values.clear();
            for (std::int64_t k = 0; k < length; ++k) values.push_back(random.signed_uniform(0));
        }
        row.clear();
        for (std::int64_t k = 0; k < length; ++k) {
            // One column from each of `length` parts of equal size: none comes twice.
            const std::int64_t begin = k * n / length, end = (k + 1) * n / length;
            row.push_back({static_cast<std::int32_t>(begin + random.below(end - begin)), values[static_cast<std::size_t>(k)]});
        }
        append_row(matrix, row);
    }
    return matrix;
}

}  // namespace solver::matrices
