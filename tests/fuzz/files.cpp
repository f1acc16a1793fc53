#include "fuzz/targets.hpp"
#include "io/matrix_market/decimal.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "support/expected.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace solver::fuzz {
namespace {

using Contents = std::variant<CsrMatrix<double>, DenseMatrix<double>>;

const std::filesystem::path& folder() {
    static const testing::TemporaryFolder temporary;
    return temporary.path();
}

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "no temporary file");
    ::close(file);
}

/// Sizes that are legal and need gigabytes: the reader is right to take them.
bool declares_a_huge_matrix(std::string_view text) {
    int digits = 0;
    bool comment = false;
    for (const char c : text.substr(0, 5000)) {
        if (c == '%') comment = true;
        if (c == '\n') comment = false;
        digits = !comment && c >= '0' && c <= '9' ? digits + 1 : 0;
        if (digits > 5) return true;
    }
    return false;
}

std::string message_of(const FileError& error) { return error.what(); }

/// What the file holds; nothing where it was refused. Any other exception ends the process.
std::optional<Contents> read(const std::filesystem::path& path) {
    try {
        return read_matrix_market<double>(path, {.threads = 1});
    } catch (const FileError& error) {
        require(message_of(error).starts_with(path.string() + ":"), "an error without the file's name: " + message_of(error));
        return std::nullopt;
    }
}

bool same_values(const std::vector<double>& one, const std::vector<double>& other) {
    return testing::differences<double>(one, other).empty();
}

bool same(const Contents& one, const Contents& other) {
    if (one.index() != other.index()) return false;
    if (const auto* a = std::get_if<CsrMatrix<double>>(&one)) {
        const auto& b = std::get<CsrMatrix<double>>(other);
        return a->rows == b.rows && a->columns == b.columns && a->row_offsets == b.row_offsets &&
               a->column_indices == b.column_indices && same_values(a->values, b.values);
    }
    const auto& a = std::get<DenseMatrix<double>>(one);
    const auto& b = std::get<DenseMatrix<double>>(other);
    return a.rows == b.rows && a.columns == b.columns && same_values(a.values, b.values);
}

void expect_the_same_after_writing(const Contents& contents) {
    const auto path = folder() / "written.mtx";
    std::visit([&](const auto& matrix) { write_matrix_market<double>(path, matrix.view()); }, contents);
    const auto again = read(path);
    require(again && same(contents, *again), "a matrix was not the same after it was written and read");
}

std::string text_of(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

std::string compressed(std::string_view text) {
    const auto path = folder() / "text.gz";
    const gzFile file = gzopen(path.c_str(), "wb1");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    std::string bytes(text.size() + 1000, '\0');
    const int descriptor = ::open(path.c_str(), O_RDONLY);
    bytes.resize(static_cast<std::size_t>(::read(descriptor, bytes.data(), bytes.size())));
    ::close(descriptor);
    return bytes;
}

template <class T>
void expect_nearest(const char* text, T (*by_glibc)(const char*, char**)) {
    const auto decimal = matrix_market::split_decimal(text);
    std::string expected_text(text, decimal.end);
    for (char& c : expected_text)
        if (c == 'd' || c == 'D') c = 'e';
    const T expected = by_glibc(expected_text.c_str(), nullptr);
    try {
        const T found = matrix_market::nearest<T>(decimal);
        require(testing::same_bits(found, expected), "another number than glibc's: " + expected_text);
    } catch (const matrix_market::LineError&) {
        require(std::isinf(expected), "refused, but not beyond the range: " + expected_text);
    }
}

}  // namespace

void matrix_market(Input input) {
    const std::string text = text_of(input);
    if (declares_a_huge_matrix(text)) return;
    const auto path = folder() / "text.mtx";
    write_bytes(path, text);
    if (const auto contents = read(path)) {
        if (const auto* sparse = std::get_if<CsrMatrix<double>>(&*contents)) check<double>(*sparse);
        expect_the_same_after_writing(*contents);
    }
    try {
        read_vector<float>(path, {.threads = 1});
    } catch (const FileError&) {
    }
}

void matrix_market_gzip(Input input) {
    if (input.size() < 4) return;
    const std::string text = text_of(input.subspan(4));
    if (declares_a_huge_matrix(text)) return;
    const auto plain = folder() / "plain.mtx", packed = folder() / "packed.mtx.gz";
    write_bytes(plain, text);
    const auto expected = read(plain);
    std::string bytes = compressed(text);
    write_bytes(packed, bytes);
    const auto found = read(packed);
    require(found.has_value() == expected.has_value() && (!found || same(*found, *expected)),
            "a compressed file is read otherwise than a plain one");
    const std::size_t place = (input[0] | input[1] << 8) % bytes.size();
    if (input[2] % 2 == 0)
        bytes.resize(place);
    else
        bytes[place] = static_cast<char>(bytes[place] ^ input[3]);
    write_bytes(packed, bytes);
    const auto damaged = read(packed);
    require(!damaged || (expected && same(*damaged, *expected)), "damaged gzip data gave another matrix");
}

void decimal(Input input) {
    std::string text = text_of(input);
    if (text.find('\n') != std::string::npos || text.find('\0') != std::string::npos) return;
    text += '\n';
    try {
        expect_nearest<double>(text.c_str(), std::strtod);
        expect_nearest<float>(text.c_str(), std::strtof);
    } catch (const matrix_market::LineError&) {
    }
}

}  // namespace solver::fuzz
