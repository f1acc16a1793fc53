#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "matrices/generators.hpp"
#include "solver/matrix_market.hpp"
#include "solver/preparation.hpp"
#include "support/temporary_folder.hpp"

#include <fstream>

namespace solver::frozen {
namespace {

template <class T>
void add_matrix(Digest& digest, const CsrMatrix<T>& a) {
    digest.add(a.rows);
    digest.add(a.columns);
    digest.add(a.row_offsets);
    digest.add(a.column_indices);
    digest.add(a.values);
}

void record_generators(Record& record) {
    for (const char* name :
         {"dc2_like", "poisson2d_9", "poisson3d_5", "stencil27_5", "poisson2d_random_9", "poisson3d_random_5",
          "stencil27_random_5", "convection_diffusion_9", "power_law_300", "thousandths_50"}) {
        Digest digest;
        add_matrix(digest, matrices::find_generator(name).value().make());
        record.add(std::string("generator/").append(name), digest);
    }
}

/// Hard sums, each at one place of a matrix; what overflows is refused, and left out.
template <class T>
CsrMatrix<T> repeated_entries() {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < 40; ++i) {
        const Family<T>& family = families<T>[static_cast<std::size_t>(i) % 6];
        for (const T value : (Maker<T>(static_cast<std::uint64_t>(i), false).*family.make)(30).x)
            entries.push_back({static_cast<std::int32_t>(i % 7), static_cast<std::int32_t>(i / 7), value});
    }
    return csr_from_entries<T>(7, 6, entries);
}

template <class T>
void record_csr(Record& record) {
    const CsrMatrix<T> a = repeated_entries<T>();
    Digest digest;
    add_matrix(digest, a);
    add_matrix(digest, transpose(a.view()));
    add_matrix(digest, convert<float>(a.view()));
    add_matrix(digest, convert<double>(a.view()));
    record.add(name_of<T>("csr", "repeated_entries"), digest);
}

template <class T>
void record_preparation(Record& record) {
    Digest digest;
    for (const char* name : {"convection_diffusion_18", "poisson3d_random_7", "power_law_300"}) {
        const CsrMatrix<T> a = convert<T>(matrices::find_generator(name).value().make().view());
        const Preparation preparation = prepare<T>(a, Ordering::natural);
        digest.add(preparation.row_exponents);
        digest.add(preparation.column_exponents);
        digest.add(preparation.row_order);
        digest.add(preparation.column_order);
        add_matrix(digest, prepared_matrix<T>(a, preparation));
    }
    record.add(name_of<T>("preparation", "natural"), digest);
}

/// Decimals of 1 to 40 digits, from below the smallest subnormal to the largest power of ten.
std::string decimals(std::int64_t count, std::int64_t largest_exponent, std::int64_t smallest_exponent) {
    Random random(41);
    std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(count) + " 1\n";
    for (std::int64_t i = 0; i < count; ++i) {
        text += random.coin() ? "-0." : "0.";
        for (std::int64_t left = between(random, 1, 40); left > 0; --left) text += static_cast<char>('0' + random.below(10));
        text.append("e").append(std::to_string(between(random, smallest_exponent, largest_exponent))).append("\n");
    }
    return text;
}

template <class T>
void record_decimals(Record& record) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "decimals.mtx";
    std::ofstream(path) << (sizeof(T) == 4 ? decimals(3000, 38, -46) : decimals(3000, 308, -325));
    Digest digest;
    digest.add(read_vector<T>(path));
    record.add(name_of<T>("decimals", "any"), digest);
}

template <class T>
void record_inputs_of(Record& record) {
    record_csr<T>(record);
    record_preparation<T>(record);
    record_decimals<T>(record);
}

}  // namespace

void record_inputs(Record& record) {
    record_generators(record);
    record_inputs_of<float>(record);
    record_inputs_of<double>(record);
}

}  // namespace solver::frozen
