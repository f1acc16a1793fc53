#pragma once

/// What a computation gave, to compare with what the same one gives elsewhere.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver::bench {

/// Everything that one computation gives, part by part, as bytes to compare.
class Record {
public:
    template <class T>
    void add(const std::string& part, std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        parts_[part].append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    template <class T>
    void add(const std::string& part, T value) {
        add(part, std::span<const T>(&value, 1));
    }

    /// The names of the parts that differ.
    std::vector<std::string> differences(const Record& other) const {
        std::vector<std::string> names;
        for (const auto& [name, bytes] : parts_)
            if (const auto found = other.parts_.find(name); found == other.parts_.end() || found->second != bytes)
                names.push_back(name);
        for (const auto& [name, bytes] : other.parts_)
            if (parts_.find(name) == parts_.end()) names.push_back(name);
        return names;
    }

    /// The name and the hash of every part: FNV-1a with 64 bits (Fowler, Noll, Vo).
    std::vector<std::pair<std::string, std::uint64_t>> hashes() const {
        std::vector<std::pair<std::string, std::uint64_t>> hashes;
        for (const auto& [name, bytes] : parts_) {
            std::uint64_t hash = 0xcbf29ce484222325u;
            for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
            hashes.emplace_back(name, hash);
        }
        return hashes;
    }

    std::string remark{};  ///< "27" iterations, "refused"
    double seconds = 0;

private:
    std::map<std::string, std::string> parts_;
};

}  // namespace solver::bench
