#pragma once

/// What a computation gave, to compare with what the same one gives elsewhere.

#include <map>
#include <span>
#include <string>
#include <type_traits>
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

    std::string remark{};  ///< "27" iterations, "refused"
    double seconds = 0;

private:
    std::map<std::string, std::string> parts_;
};

}  // namespace solver::bench
