#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "solver/reduce.hpp"

namespace solver::frozen {
namespace {

constexpr std::int64_t lengths[] = {4, 5, 8, 33, 64, 300, 1024, 5003, 70001};

template <class T>
void add_expansion(Digest& digest, const Expansion<T>& expansion) {
    digest.add_all(expansion.components());
    digest.add(static_cast<std::int32_t>(expansion.is_exact));
}

template <class T>
void record_family(Record& record, const Family<T>& family, const Device& device) {
    Digest sums, dots, norms, sum_expansions, dot_expansions;
    for (const std::int64_t n : lengths) {
        const Terms<T> numbers = (Maker<T>(static_cast<std::uint64_t>(n), false).*family.make)(n);
        const Terms<T> products = (Maker<T>(static_cast<std::uint64_t>(n) + 1, true).*family.make)(n);
        sums.add(sum(numbers.x, record.accuracy(), device));
        norms.add(norm2(numbers.x, record.accuracy(), device));
        dots.add(dot(products.x, products.y, record.accuracy(), device));
        add_expansion(sum_expansions, sum_expansion(numbers.x, device));
        add_expansion(dot_expansions, dot_expansion(products.x, products.y, device));
    }
    record.add(name_of<T>("sum", family.name), sums);
    record.add(name_of<T>("dot", family.name), dots);
    record.add(name_of<T>("norm2", family.name), norms);
    record.add(name_of<T>("sum_expansion", family.name), sum_expansions);
    record.add(name_of<T>("dot_expansion", family.name), dot_expansions);
}

}  // namespace

void record_reductions(Record& record, const Device& device) {
    for (const Family<float>& family : families<float>) record_family(record, family, device);
    for (const Family<double>& family : families<double>) record_family(record, family, device);
}

}  // namespace solver::frozen
