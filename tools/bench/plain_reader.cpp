#include "plain_reader.hpp"

#include "solver/error.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace solver::bench {
namespace {

/// std::from_chars knows neither a leading plus sign nor Fortran's d.
template <class T>
T value_from(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    T value{};
    std::from_chars(begin, text.data() + text.size(), value);  // beyond the range, where the library says 0: stays 0
    return value;
}

bool says_nothing(const std::string& line) {
    return line.find_first_not_of(" \t\r") == std::string::npos || line[line.find_first_not_of(" \t\r")] == '%';
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

template <class T>
PlainFile<T> read_plainly(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) throw FileError(path.string(), 0, "cannot be read");
    const std::string banner = lower_case(line);
    const bool pattern = banner.find("pattern") != std::string::npos;
    const bool skew = banner.find("skew-symmetric") != std::string::npos;
    const bool symmetric = banner.find("symmetric") != std::string::npos;

    std::int64_t rows = -1, columns = 0, count = 0;
    std::vector<Entry<T>> entries;
    std::vector<std::string> word(3);
    while (std::getline(file, line)) {
        if (says_nothing(line)) continue;
        std::istringstream words(line);
        words >> word[0] >> word[1];
        if (!(words >> word[2])) word[2].clear();  // a pattern has no values
        if (rows < 0) {
            rows = std::stoll(word[0]);
            columns = std::stoll(word[1]);
            count = std::stoll(word[2]);
            entries.reserve(static_cast<std::size_t>(count));
        } else {
            entries.push_back({static_cast<std::int32_t>(std::stol(word[0]) - 1),
                               static_cast<std::int32_t>(std::stol(word[1]) - 1), pattern ? T(1) : value_from<T>(word[2])});
        }
    }

    PlainFile<T> result;
    result.stored = csr_from_entries<T>(rows, columns, entries);
    if (symmetric) {
        const std::size_t stored = entries.size();
        for (std::size_t k = 0; k < stored; ++k) {
            const Entry<T> entry = entries[k];
            if (entry.row != entry.column) entries.push_back({entry.column, entry.row, skew ? -entry.value : entry.value});
        }
    }
    result.expanded = csr_from_entries<T>(rows, columns, entries);
    return result;
}

template PlainFile<float> read_plainly(const std::filesystem::path&);
template PlainFile<double> read_plainly(const std::filesystem::path&);

}  // namespace solver::bench
