#pragma once

/// The bits of every operation on inputs made from integers. Those of exact are written down: what was promised once is kept.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver::frozen {

struct Fingerprint {
    std::string name;  ///< "dot/double/ties"
    std::uint64_t hash = 0;

    bool operator==(const Fingerprint&) const = default;
};

/// FNV-1a with 64 bits (Fowler, Noll, Vo) of the little-endian bytes of numbers.
class Digest {
public:
    template <class T>
    void add(T value) {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        auto bits = std::bit_cast<Bits>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8) hash_ = (hash_ ^ (bits & 0xff)) * 0x100000001b3u;
    }

    /// The elements, and how many there are.
    template <class T>
    void add(const std::vector<T>& values) {
        add_all(std::span<const T>(values));
    }
    template <class T>
    void add_all(std::span<const T> values) {
        add(static_cast<std::int64_t>(values.size()));
        for (const T value : values) add(value);
    }

    std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// What is collected, in a fixed order, of operations in the accuracy given.
class Record {
public:
    explicit Record(Accuracy accuracy) : accuracy_(accuracy) {}

    Accuracy accuracy() const { return accuracy_; }
    void add(std::string name, const Digest& digest) { fingerprints_.push_back({std::move(name), digest.value()}); }
    const std::vector<Fingerprint>& fingerprints() const { return fingerprints_; }

private:
    Accuracy accuracy_;
    std::vector<Fingerprint> fingerprints_;
};

/// "operation/float/which" or "operation/double/which".
template <class T>
std::string name_of(std::string operation, std::string_view which) {
    return operation.append(sizeof(T) == 4 ? "/float/" : "/double/").append(which);
}

/// Sums, dot products, norms and expansions.
void record_reductions(Record& record, const Device& device);

/// Sparse products and residuals; on a processor dense ones with vectors, too.
void record_products(Record& record, const Device& device);

/// Products of dense matrices in several layouts.
void record_dense_products(Record& record, const Device& device);

/// Sparse triangular solves; on a processor dense ones, too.
void record_triangular_solves(Record& record, const Device& device);

/// Preconditioners, and BiCGStab with them.
void record_solves(Record& record, const Device& device);

/// Sums, products and solves of complex numbers.
void record_complex(Record& record, const Device& device);

/// Solutions that are proven to be rounded correctly.
void record_rounded_solutions(Record& record, const Device& device);

/// What a processor alone does: generators, sums of entries, decimals, the preparation in natural order.
void record_inputs(Record& record);

/// All that the device can do.
std::vector<Fingerprint> fingerprints(const Device& device, Accuracy accuracy = Accuracy::exact);

/// Those of exact, in fingerprints.txt.
std::span<const Fingerprint> frozen_fingerprints();

}  // namespace solver::frozen
