#include "solver/matrix_market.hpp"

#include "core/machine.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "support/floating_point_environment.hpp"

namespace solver {
namespace {

using std::filesystem::path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_view_literals;

/// A folder that goes away with the test.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = ::testing::TempDir() + "/matrix_market_XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
    path operator/(const std::string& name) const { return folder_ / name; }
    const path& folder() const { return folder_; }

private:
    path folder_;
};

void write_text(const path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string read_text(const path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

void write_gzip(const path& file, const std::string& text, const char* mode = "wb") {
    const gzFile out = gzopen(file.c_str(), mode);
    ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(out);
}

/// What follows the path in the message of the FileError that reading throws; "" if it throws none.
std::string refusal(const path& file, int threads = 1) {
    try {
        read_matrix_market<double>(file, {threads});
    } catch (const FileError& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith(file.string()));
        return std::string(error.what()).substr(file.string().size());
    }
    return "";
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](T x, T y) { return x == y && std::signbit(x) == std::signbit(y); });
}

template <class T>
void expect_same(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.columns, b.columns);
    EXPECT_TRUE(a.row_offsets == b.row_offsets);
    EXPECT_TRUE(a.column_indices == b.column_indices);
    EXPECT_TRUE(same_bits(a.values, b.values));
}

// ---------------------------------------------------------------------------------------------------------- broken files

const std::string banner_form =
    "'%%MatrixMarket matrix coordinate|array real|complex|integer|pattern general|symmetric|skew-symmetric|hermitian'";

const std::map<std::string, std::string> refusals = {
    {"array_huge", ":2: values declared here: 4611686014132420609, but the file ends after 1"},
    {"array_line_with_two_values", ":3: saw '2', expected the end of the line after the value"},
    {"array_too_long", ":2: values declared here: 2, but more follow"},
    {"array_too_short", ":2: values declared here: 4, but the file ends after 3"},
    {"banner_cut_short", ":1: saw the end of the line, expected the field to be real|complex|integer|pattern"},
    {"banner_with_extra_word", ":1: saw 'sorted', expected the end of the line after the banner"},
    {"banner_with_one_percent", ":1: saw '%MatrixMarket', expected " + banner_form},
    {"column_beyond_range", ":5: column 12 is outside 1..8"},
    {"column_missing", ":3: saw the end of the line, expected a column, a whole number within 1..2"},
    {"column_overflows", ":3: column 18446744073709551617 is outside 1..2"},
    {"empty", ":1: the file is empty, expected " + banner_form},
    {"entries_huge", ":2: entries declared here: 1000000000000, but the file ends after 1"},
    {"field_complex",
     ":1: the matrix is complex, and real numbers were asked for; ask for complex ones (std::complex, complex128)"},
    {"field_unknown", ":1: saw 'rational', expected the field to be real|complex|integer|pattern"},
    {"format_unknown", ":1: saw 'sparse', expected the format to be coordinate|array"},
    {"integer_with_fraction", ":3: saw '1.5', expected an integer"},
    {"line_cut_by_end_of_file", ":3: saw the end of the line, expected a finite decimal number"},
    {"no_banner", ":1: saw '3', expected " + banner_form},
    {"no_sizes", ":3: the file ends before the line with the sizes"},
    {"not_ascii", ":3: saw '\\xe2\\x88\\x921', expected a finite decimal number"},
    {"nul_byte", ":3: saw '\\x001', expected a finite decimal number"},
    {"object_vector", ":1: saw 'vector', expected the object to be matrix"},
    {"only_a_newline", ":1: saw the end of the line, expected " + banner_form},
    {"pattern_array", ":1: an array of patterns has no values; expected the field real or integer"},
    {"pattern_skew_symmetric", ":1: a pattern has no signs and cannot be skew-symmetric; expected general or symmetric"},
    {"row_beyond_range", ":4: row 3 is outside 1..2"},
    {"row_negative", ":3: saw '-1', expected a row, a whole number within 1..2"},
    {"row_not_whole", ":3: saw '1.5', expected a row, a whole number within 1..2"},
    {"row_zero", ":3: row 0 is outside 1..2"},
    {"rows_beyond_32_bits", ":2: saw '2147483648' rows, at most 2147483647 are supported"},
    {"size_negative", ":2: saw '-2', expected three whole numbers: rows, columns, entries"},
    {"size_not_whole", ":2: saw '2.0', expected three whole numbers: rows, columns, entries"},
    {"size_overflows", ":2: saw '99999999999999999999999999' rows, at most 2147483647 are supported"},
    {"sizes_of_array_for_coordinate", ":2: saw the end of the line, expected three whole numbers: rows, columns, entries"},
    {"sizes_of_coordinate_for_array", ":2: saw '2', expected the end of the line after rows, columns"},
    {"skew_symmetric_with_diagonal",
     ":3: saw an entry on the diagonal, (2, 2), where a skew-symmetric matrix is 0 and stores none"},
    {"sum_beyond_range", ": the sum of the entries at row 1, column 2 is beyond the range of double precision"},
    {"symmetric_not_square", ":2: the matrix is 2 x 3; one with a symmetry is square"},
    {"symmetric_with_both_triangles",
     ":5: saw an entry above the diagonal, but line 4 has one below it; a file with a symmetry stores one triangle only"},
    {"symmetry_hermitian", ":1: a hermitian matrix is complex; expected the field complex, or the symmetry symmetric"},
    {"symmetry_unknown", ":1: saw 'triangular', expected the symmetry to be general|symmetric|skew-symmetric|hermitian"},
    {"token_very_long", ":3: saw 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...', expected a finite decimal number"},
    {"too_few_entries", ":2: entries declared here: 3, but the file ends after 2"},
    {"too_many_entries", ":2: entries declared here: 1, but more follow"},
    {"value_beyond_range", ":3: '1e400' is beyond the range of double precision, 1.8e+308"},
    {"value_complex", ":3: saw '2.0', expected the end of the line after the entry"},
    {"value_hexadecimal", ":3: saw '0x10', expected a finite decimal number"},
    {"value_in_pattern", ":3: saw '1', expected the end of the line after the entry"},
    {"value_infinite", ":3: saw '-inf', expected a finite decimal number"},
    {"value_missing", ":3: saw the end of the line, expected a finite decimal number"},
    {"value_nan", ":3: saw 'nan', expected a finite decimal number"},
    {"value_not_a_number", ":3: saw 'one', expected a finite decimal number"},
    {"value_only_a_point", ":3: saw '.', expected a finite decimal number"},
    {"value_only_a_sign", ":3: saw '-', expected a finite decimal number"},
    {"value_with_comma", ":3: saw '1,5', expected a finite decimal number"},
    {"value_with_trailing_junk", ":3: saw '1.5x', expected a finite decimal number"},
    {"value_without_exponent", ":3: saw '1e', expected a finite decimal number"},
};

// Promise: matrix_market.hpp, "A file that breaks the format throws FileError"
// Promise: matrix_market.hpp, "Entries at one place are summed"
// Promise: matrix_market.hpp, "So is a diagonal entry of a skew-symmetric"
// Promise: matrix_market.hpp, "At most 2^31 - 1 rows and columns."
// Promise: error.hpp, "The text begins with "path:line:"
// Promise: error.hpp, "A file that cannot be read, written or understood."
TEST(MatrixMarket, RefusesEveryBrokenFileWithItsWholeMessage) {
    std::set<std::string> unseen;
    for (const auto& [name, message] : refusals) unseen.insert(name);
    for (const auto& file : std::filesystem::directory_iterator(SOLVER_TEST_DATA "/broken")) {
        const std::string name = file.path().stem();
        ASSERT_EQ(unseen.erase(name), 1U) << name;
        EXPECT_EQ(refusal(file.path()), refusals.at(name)) << name;
    }
    EXPECT_THAT(unseen, ::testing::IsEmpty());
}

TEST(MatrixMarket, NamesTheLineBehindManyBlocksForAnyNumberOfThreads) {
    const TemporaryFolder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n10 10 300000\n";
    for (int k = 0; k < 300'000; ++k) text += k == 250'000 || k == 290'000 ? "1 1 x\n" : "1 1 1.25\n";
    write_text(folder / "a.mtx", text);
    for (const int threads : {1, 2, 7})
        EXPECT_EQ(refusal(folder / "a.mtx", threads), ":250003: saw 'x', expected a finite decimal number");
}

// Promise: matrix_market.hpp, "A symmetric or skew-symmetric file stores one triangle"
TEST(MatrixMarket, RefusesBothTrianglesWhereOneIsSeenInTheFirstBlockAlone) {
    const TemporaryFolder folder;
    for (const bool first_is_above : {false, true}) {
        std::string text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 100000\n";
        text += first_is_above ? "1 2 1.25\n" : "2 1 1.25\n";
        for (int k = 1; k < 100'000; ++k) text += first_is_above ? "2 1 1.25\n" : "1 2 1.25\n";
        write_text(folder / "a.mtx", text);
        const auto [seen, before] = first_is_above ? std::pair("below", "above") : std::pair("above", "below");
        for (const int threads : {1, 2, 7})
            EXPECT_THAT(
                refusal(folder / "a.mtx", threads),
                ::testing::StartsWith(fmt::format(":4: saw an entry {} the diagonal, but line 3 has one {} it", seen, before)));
    }
}

TEST(MatrixMarket, ReadsWhatFollowsAHeaderLongerThanABlock) {
    const TemporaryFolder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n";
    while (text.size() < 400'000) text += "% a comment\n";
    write_text(folder / "a.mtx", text + "2 3 2\n1 3 1.5\n2 1 -4\n");
    for (const int threads : {1, 2, 7})
        expect_same(read_csr<double>(folder / "a.mtx", {threads}), CsrMatrix<double>{2, 3, {0, 1, 2}, {2, 0}, {1.5, -4}});
}

TEST(MatrixMarket, BlamesTheSizesWhereSurplusEntriesComeBeforeABrokenLine) {
    const TemporaryFolder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n10 10 200000\n";
    for (int k = 0; k < 300'000; ++k) text += k == 200'001 ? "1 1 x\n" : "1 1 1.25\n";
    write_text(folder / "a.mtx", text);
    for (const int threads : {1, 2, 7})
        EXPECT_EQ(refusal(folder / "a.mtx", threads), ":2: entries declared here: 200000, but more follow");
}

// Promise: error.hpp, "" where a line is known (line > 0)"
TEST(MatrixMarket, RefusesPathsThatAreNoFile) {
    const TemporaryFolder folder;
    EXPECT_EQ(refusal(folder / "absent.mtx"), ": cannot be opened: No such file or directory");
    EXPECT_EQ(refusal(folder.folder()), ": is a folder; expected a Matrix Market file");
}

// Promise: error.hpp, "Counted from 1;"
// Promise: error.hpp, "0 where no line is to blame."
TEST(MatrixMarket, TellsTheLineAsANumber) {
    const TemporaryFolder folder;
    const auto line_of = [](const path& file) -> std::int64_t {
        try {
            read_csr<double>(file);
        } catch (const FileError& error) {
            return error.line();
        }
        return -1;
    };
    EXPECT_EQ(line_of(SOLVER_TEST_DATA "/broken/empty.mtx"), 1);
    EXPECT_EQ(line_of(SOLVER_TEST_DATA "/broken/value_nan.mtx"), 3);
    EXPECT_EQ(line_of(folder / "absent.mtx"), 0);
}

TEST(MatrixMarket, RefusesALineWithoutEnd) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", std::string(1'000'000, 'x'));
    EXPECT_EQ(refusal(folder / "a.mtx"), ":1: the line has more than 262144 characters; expected a Matrix Market file");
}

TEST(MatrixMarket, RefusesBrokenGzipData) {
    const TemporaryFolder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n100 100 10000\n";
    for (int k = 0; k < 10'000; ++k) text += fmt::format("{} {} {}\n", k / 100 + 1, k % 100 + 1, std::sin(k));
    write_gzip(folder / "a.mtx.gz", text);
    const std::string packed = read_text(folder / "a.mtx.gz");
    write_text(folder / "short.mtx.gz", packed.substr(0, packed.size() / 2));
    EXPECT_EQ(refusal(folder / "short.mtx.gz"), ": the gzip data end too early: the file is truncated");
    std::string broken = packed;
    broken[packed.size() - 6] ^= 1;  // the checksum
    write_text(folder / "broken.mtx.gz", broken);
    EXPECT_EQ(refusal(folder / "broken.mtx.gz"), ": the gzip data are broken: incorrect data check");
}

// ------------------------------------------------------------------------------------------------------------ good files

struct Expected {
    std::int64_t rows;
    std::int64_t columns;
    std::vector<double> elements;  // row by row
    std::int64_t nonzeros;         // stored; -1 for an array
};

const std::map<std::string, Expected> good_files = {
    {"coordinate_real_general", {3, 4, {12.5, 0, 0, 0.001, 0, 0, 0, 0, -2.5, 0, 0, 0.5}, 5}},
    {"coordinate_real_symmetric", {3, 3, {1, 2, 0, 2, 0, 3.5, 0, 3.5, 4}, 6}},
    {"coordinate_real_symmetric_upper", {3, 3, {1, 2, 0, 2, 0, 3.5, 0, 3.5, 4}, 6}},
    {"coordinate_real_skew_symmetric", {3, 3, {0, -2, 0, 2, 0, 3.5, 0, -3.5, 0}, 4}},
    {"coordinate_integer_general", {2, 2, {-7, 0, 9007199254740992, 12345678901234567890123.0}, 3}},
    {"coordinate_integer_symmetric", {2, 2, {-7, 3, 3, 0}, 3}},
    {"coordinate_integer_skew_symmetric", {2, 2, {0, -3, 3, 0}, 2}},
    {"coordinate_pattern_general", {2, 3, {1, 0, 1, 1, 0, 0}, 3}},
    {"coordinate_pattern_symmetric", {2, 2, {0, 1, 1, 1}, 3}},
    {"array_real_general", {2, 3, {1, 3, -5, 2, 4.5, 60}, -1}},
    {"array_real_symmetric", {3, 3, {1, 2, 3, 2, 4, 5, 3, 5, 6}, -1}},
    {"array_real_skew_symmetric", {3, 3, {0, -2, -3, 2, 0, -5, 3, 5, 0}, -1}},
    {"array_integer_general", {2, 1, {1, -2}, -1}},
    {"array_integer_symmetric", {2, 2, {1, -2, -2, 3}, -1}},
    {"array_integer_skew_symmetric", {2, 2, {0, 2, -2, 0}, -1}},
    {"header_in_capitals", {1, 2, {0, 3}, 1}},
    {"windows_line_ends", {1, 2, {4, 3}, 2}},
    {"tabs_and_spaces", {1, 2, {0, 3}, 1}},
    {"no_last_newline", {1, 2, {0, 3}, 1}},
    {"blank_lines_at_the_end", {1, 2, {0, 3}, 1}},
    {"no_entries", {2, 2, {0, 0, 0, 0}, 0}},
    {"no_rows", {0, 0, {}, 0}},
    {"array_of_nothing", {0, 3, {}, -1}},
    {"repeated_entries", {2, 2, {1, 0, 0.6, 0}, 2}},
    {"repeated_entries_symmetric", {2, 2, {0, 1, 1, 0}, 2}},
};

template <class T>
std::vector<double> elements(const CsrMatrix<T>& matrix) {
    std::vector<double> result(matrix.rows * matrix.columns);
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
            result[row * matrix.columns + matrix.column_indices[k]] = matrix.values[k];
    return result;
}

template <class T>
std::vector<double> elements(const DenseMatrix<T>& matrix) {
    std::vector<double> result;
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t column = 0; column < matrix.columns; ++column)
            result.push_back(matrix.values[column * matrix.rows + row]);
    return result;
}

// Promise: matrix_market.hpp, "Read: coordinate and array"
// Promise: matrix_market.hpp, "CRLF, blank lines, comments and tabs"
// Promise: matrix_market.hpp, "Entries at one place are summed"
// Promise: matrix_market.hpp, "A file in coordinate format gives a CsrMatrix"
// Promise: dense_matrix.hpp, "rows x columns values, column by column"
TEST(MatrixMarket, ReadsEveryFormatFieldAndSymmetry) {
    for (const auto& [name, expected] : good_files) {
        SCOPED_TRACE(name);
        const auto any = read_matrix_market<double>(path(SOLVER_TEST_DATA "/good") / (name + ".mtx"));
        std::visit(
            [&, &expected = expected](const auto& matrix) {
                EXPECT_EQ(matrix.rows, expected.rows);
                EXPECT_EQ(matrix.columns, expected.columns);
                EXPECT_EQ(elements(matrix), expected.elements);
            },
            any);
        const auto* sparse = std::get_if<CsrMatrix<double>>(&any);
        EXPECT_EQ(sparse == nullptr ? -1 : sparse->nonzeros(), expected.nonzeros);
        if (sparse != nullptr) check(sparse->view());
    }
}

// Promise: matrix_market.hpp, "Either format as a CsrMatrix"
TEST(MatrixMarket, ReadsArraysAsCsrWithoutTheirZeros) {
    const CsrMatrix<double> matrix = read_csr<double>(SOLVER_TEST_DATA "/good/array_real_skew_symmetric.mtx");
    EXPECT_THAT(matrix.row_offsets, ElementsAre(0, 2, 4, 6));
    EXPECT_THAT(matrix.column_indices, ElementsAre(1, 2, 0, 2, 0, 1));
    EXPECT_THAT(matrix.values, ElementsAre(-2, -3, 2, -5, 3, 5));
}

// Promise: matrix_market.hpp, "A file with one column (or one row) as a vector"
TEST(MatrixMarket, ReadsVectorsFromColumnsRowsAndCoordinates) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 1\n3 1 5\n");
    EXPECT_THAT(read_vector<double>(folder / "a.mtx"), ElementsAre(0, 0, 5));
    EXPECT_THAT(read_vector<double>(SOLVER_TEST_DATA "/good/header_in_capitals.mtx"), ElementsAre(0, 3));
    EXPECT_THAT(read_vector<float>(SOLVER_TEST_DATA "/good/array_integer_general.mtx"), ElementsAre(1, -2));
    try {
        read_vector<double>(SOLVER_TEST_DATA "/good/array_real_general.mtx");
        FAIL();
    } catch (const FileError& error) {
        EXPECT_STREQ(error.what(), SOLVER_TEST_DATA
                     "/good/array_real_general.mtx: the matrix is 2 x 3; expected a vector: one column or one row");
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take terabytes of addresses
TEST(MatrixMarket, RefusesAVectorThatMemoryCannotHold) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2147483647 1\n1 5 1.5\n");
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    const rlimit small{rlim_t{4} << 30, before.rlim_max};
    setrlimit(RLIMIT_AS, &small);
    std::string message;
    try {
        read_vector<double>(folder / "a.mtx", {1});
    } catch (const FileError& error) {
        message = error.what();
    }
    setrlimit(RLIMIT_AS, &before);
    EXPECT_THAT(message, ::testing::EndsWith("a.mtx: not enough memory for this matrix"));
}
#endif

/// The offsets of its rows are one more than memory could hold.
TEST(MatrixMarket, RefusesMoreRowsThanMemoryCanHold) {
    const std::int64_t rows = available_memory() / static_cast<std::int64_t>(sizeof(std::int64_t));
    if (rows > std::numeric_limits<std::int32_t>::max()) GTEST_SKIP() << "memory here holds the offsets of any matrix";
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", fmt::format("%%MatrixMarket matrix coordinate real general\n{} 1 1\n1 1 1.5\n", rows));
    try {
        read_matrix_market<double>(folder / "a.mtx", {1});
        FAIL();
    } catch (const FileError& error) {
        EXPECT_THAT(error.what(), ::testing::EndsWith("a.mtx: not enough memory for this matrix"));
    }
}

// Promise: matrix_market.hpp, "Whether a file is compressed is seen from its content"
// Promise: matrix_market.hpp, "Matrix Market files (Boisvert, Pozo"
TEST(MatrixMarket, RecognizesGzipByItsContent) {
    const TemporaryFolder folder;
    const std::string text = read_text(SOLVER_TEST_DATA "/good/coordinate_real_general.mtx");
    const CsrMatrix<double> expected = read_csr<double>(SOLVER_TEST_DATA "/good/coordinate_real_general.mtx");
    write_gzip(folder / "packed_without_saying_so.mtx", text);
    write_text(folder / "not_packed.mtx.gz", text);
    write_gzip(folder / "two_members.mtx.gz", text.substr(0, 60));
    write_gzip(folder / "two_members.mtx.gz", text.substr(60), "ab");
    for (const char* name : {"packed_without_saying_so.mtx", "not_packed.mtx.gz", "two_members.mtx.gz"})
        expect_same(read_csr<double>(folder / name), expected);
}

// -------------------------------------------------------------------------------------------------------------- numbers

/// Decimal numbers of every kind: short, long, near ties of float and double, subnormal.
std::vector<std::string> decimals() {
    std::mt19937_64 random(1);
    std::vector<std::string> texts = {"0",
                                      "-0",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "-.5e1",
                                      "1E5",
                                      "1e+05",
                                      "000000000000000000000000000001",
                                      "0e999",
                                      "9007199254740993",
                                      "9007199254740992.99999",
                                      "18446744073709551616",
                                      "5e-324",
                                      "2e-324",
                                      "3e-324",
                                      "-1e-999",
                                      "1.7976931348623157e308",
                                      "2.2250738585072011e-308",
                                      "0.000000000000000000000000000000000000000000000000001e51",
                                      "123456789012345678901234567890e-10"};
    for (int k = 0; k < 20'000; ++k) {
        const auto bits = random();
        const double any = std::bit_cast<double>(bits);
        if (std::isfinite(any)) texts.push_back(fmt::format("{:.{}e}", any, k % 20));
        texts.push_back(fmt::format("{:.{}f}", static_cast<double>(bits) * 1e-12, k % 14));
        const float single = std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0x7f7fffff);
        const double middle = (double{single} + double{std::nextafter(single, INFINITY)}) / 2;
        texts.push_back(fmt::format("{:.{}g}", middle, 5 + k % 20));
        const float near_one = std::ldexp(std::floor(single / std::ldexp(1.0F, std::ilogb(single) - 23)), -23 + k % 20);
        texts.push_back(
            fmt::format("{:.{}f}", (double{near_one} + double{std::nextafter(near_one, INFINITY)}) / 2, 10 + k % 16));
    }
    return texts;
}

template <class T>
class Numbers : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Numbers, Precisions);

float library_value(const std::string& text, float) { return std::strtof(text.c_str(), nullptr); }
double library_value(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }

// Promise: matrix_market.hpp, "Values are rounded to nearest once"
TYPED_TEST(Numbers, AreRoundedOnceFromTheirText) {
    const TemporaryFolder folder;
    std::vector<TypeParam> expected;
    std::string text;
    for (const std::string& number : decimals()) {
        const TypeParam value = library_value(number, TypeParam{});
        if (std::isinf(value)) continue;
        expected.push_back(value);
        text += number + "\n";
    }
    write_text(folder / "a.mtx", fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", expected.size()) + text);
    const std::vector<TypeParam> values = read_vector<TypeParam>(folder / "a.mtx");
    ASSERT_EQ(values.size(), expected.size());
    EXPECT_TRUE(same_bits(values, expected));
}

TEST(MatrixMarket, RefusesWhatExceedsSinglePrecisionOnlyThere) {
    const TemporaryFolder folder;
    for (const char* number : {"3.4028236e38", "1e39", "1e22000", "340282356779733661637539395458142568448"}) {
        write_text(folder / "a.mtx", fmt::format("%%MatrixMarket matrix array real general\n1 1\n{}\n", number));
        EXPECT_THROW(read_vector<float>(folder / "a.mtx"), FileError) << number;
    }
    write_text(folder / "a.mtx", "%%MatrixMarket matrix array real general\n1 1\n340282356779733661637539395458142568447\n");
    EXPECT_THAT(read_vector<float>(folder / "a.mtx"), ElementsAre(std::numeric_limits<float>::max()));
    EXPECT_THAT(read_vector<double>(folder / "a.mtx"), ElementsAre(340282356779733661637539395458142568447.0));
}

// -------------------------------------------------------------------------------------------------------------- threads

// Promise: matrix_market.hpp, "The result does not depend on it"
// Promise: matrix_market.hpp, "that parse;"
// Promise: matrix_market.hpp, "0 means one for each processor."
TEST(MatrixMarket, GivesTheSameMatrixForAnyNumberOfThreads) {
    const TemporaryFolder folder;
    std::mt19937 random(2);
    std::string text = "%%MatrixMarket matrix coordinate real symmetric\n2000 2000 200000\n";
    for (int k = 0; k < 200'000; ++k) {
        const auto row = random() % 2000;
        text += fmt::format("{} {} {}\n", row + 1, random() % (row + 1) % 100 + 1, std::ldexp(random(), random() % 200 - 100));
    }
    write_text(folder / "a.mtx", text);
    write_gzip(folder / "a.mtx.gz", text);
    const CsrMatrix<double> expected = read_csr<double>(folder / "a.mtx", {1});
    check(expected.view());
    for (const int threads : {0, 2, 7}) expect_same(read_csr<double>(folder / "a.mtx", {threads}), expected);
    expect_same(read_csr<double>(folder / "a.mtx.gz", {7}), expected);
}

// ------------------------------------------------------------------------------------------------------------ round trips

template <class T>
CsrMatrix<T> extreme_matrix() {
    using Limits = std::numeric_limits<T>;
    std::mt19937_64 random(3);
    CsrMatrix<T> matrix{3, 5000, {0}, {}, {}};
    for (std::int32_t row = 0; row < 3; ++row) {
        for (std::int32_t column = row; column < 5000; column += 1 + row) {
            matrix.column_indices.push_back(column);
            const T value = std::ldexp(static_cast<T>(random()), static_cast<int>(random() % 2200) - 1100);
            matrix.values.push_back(std::isfinite(value) ? (column % 2 == 0 ? value : -value) : Limits::max());
        }
        matrix.row_offsets.push_back(matrix.nonzeros());
    }
    const T special[] = {T(0),          -T(0),         Limits::denorm_min(), -Limits::denorm_min(),
                         Limits::min(), Limits::max(), Limits::lowest()};
    std::copy(std::begin(special), std::end(special), matrix.values.begin());
    return matrix;
}

// Promise: matrix_market.hpp, "A name that ends in .gz is compressed."
// Promise: matrix_market.hpp, "Writes a vector as an "array real general""
// Promise: matrix_market.hpp, "Writes a dense matrix as"
TYPED_TEST(Numbers, SurviveWritingAndReadingBitForBit) {
    const TemporaryFolder folder;
    const CsrMatrix<TypeParam> matrix = extreme_matrix<TypeParam>();
    const DenseMatrix<TypeParam> dense{2, matrix.nonzeros() / 2, matrix.values};
    for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
        const auto expect_compressed_where_said = [&] {
            EXPECT_EQ(read_text(folder / name).starts_with("\x1f\x8b"), name.ends_with(".gz"));
        };
        write_matrix_market<TypeParam>(folder / name, matrix.view());
        expect_compressed_where_said();
        expect_same(read_csr<TypeParam>(folder / name), matrix);
        write_matrix_market<TypeParam>(folder / name, dense.view());
        expect_compressed_where_said();
        EXPECT_TRUE(
            same_bits(std::get<DenseMatrix<TypeParam>>(read_matrix_market<TypeParam>(folder / name)).values, dense.values));
        write_vector<TypeParam>(folder / name, matrix.values);
        expect_compressed_where_said();
        EXPECT_TRUE(same_bits(read_vector<TypeParam>(folder / name), matrix.values));
    }
}

/// Where subnormal numbers count as 0 they would be written as 0, or left out of what was an array.
TYPED_TEST(Numbers, SurviveInAnyFloatingPointEnvironment) {
    const TemporaryFolder folder;
    const CsrMatrix<TypeParam> matrix = extreme_matrix<TypeParam>();
    const std::vector<TypeParam> subnormal(3, std::numeric_limits<TypeParam>::denorm_min());
    testing::for_each_hostile_environment([&] {
        write_matrix_market<TypeParam>(folder / "a.mtx", matrix.view());
        expect_same(read_csr<TypeParam>(folder / "a.mtx"), matrix);
        write_vector<TypeParam>(folder / "a.mtx", subnormal);
        EXPECT_TRUE(same_bits(read_csr<TypeParam>(folder / "a.mtx").values, subnormal));
    });
}

// Promise: matrix_market.hpp, "Writes "coordinate real general", of complex"
TEST(MatrixMarketWriter, WritesTheShortestDecimals) {
    const TemporaryFolder folder;
    const CsrMatrix<double> matrix{2, 3, {0, 2, 3}, {0, 2, 1}, {0.1, -1, 1e300}};
    write_matrix_market<double>(folder / "a.mtx", matrix.view());
    EXPECT_EQ(read_text(folder / "a.mtx"),
              "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.1\n1 3 -1\n2 2 1e+300\n");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take more
TEST(MatrixMarketWriter, CompressesInAThreadWith64KilobytesOfStack) {
    const TemporaryFolder folder;
    std::filesystem::path path = folder / "x.mtx.gz";
    const auto write = [](void* to) -> void* {
        write_vector<double>(*static_cast<std::filesystem::path*>(to), std::vector{1.5, 2.5});
        return nullptr;
    };
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &small, write, &path), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&small);
    EXPECT_EQ(read_vector<double>(path), (std::vector{1.5, 2.5}));
}
#endif

// Promise: matrix_market.hpp, "Writes a dense matrix as"
// Promise: matrix_market.hpp, "Writes a vector as an "array real general""
TEST(MatrixMarketWriter, WritesDenseMatricesOfAnyStride) {
    const TemporaryFolder folder;
    const std::vector<double> row_major = {1, 2, 3, 4, 5, 6};
    write_matrix_market<double>(folder / "a.mtx", DenseView<double>{2, 3, 3, 1, row_major.data()});
    EXPECT_EQ(read_text(folder / "a.mtx"), "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n");
    write_vector<double>(folder / "b.mtx", row_major);
    EXPECT_EQ(read_text(folder / "b.mtx"), "%%MatrixMarket matrix array real general\n6 1\n1\n2\n3\n4\n5\n6\n");
}

// Promise: matrix_market.hpp, "Writes "coordinate real general", of complex"
TEST(MatrixMarketWriter, RefusesWhatCannotBeReadBackAndKeepsTheOldFile) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "precious");
    const CsrMatrix<double> matrix{1, 2, {0, 2}, {0, 1}, {1, NAN}};
    try {
        write_matrix_market<double>(folder / "a.mtx", matrix.view());
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_EQ(error.what(),
                  fmt::format("write {}: the value at row 1, column 2 is nan; a Matrix Market file holds finite numbers",
                              (folder / "a.mtx").string()));
    }
    EXPECT_EQ(read_text(folder / "a.mtx"), "precious");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.folder()), {}), 1);
}

// ------------------------------------------------------------------------------------------------------- complex numbers

// Promise: matrix_market.hpp, "So is a diagonal entry of a skew-symmetric"
TEST(MatrixMarket, ReadsEverySymmetryOfComplexMatrices) {
    using C = std::complex<double>;
    const TemporaryFolder folder;
    const auto read = [&](const std::string& symmetry, const std::string& entries) {
        write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate complex " + symmetry + "\n2 2 " + entries);
        return read_csr<C>(folder / "a.mtx").values;
    };
    EXPECT_THAT(read("general", "2\n1 1 1 2\n2 1 3 -4\n"), ::testing::ElementsAre(C(1, 2), C(3, -4)));
    EXPECT_THAT(read("symmetric", "2\n1 1 1 2\n2 1 3 -4\n"), ::testing::ElementsAre(C(1, 2), C(3, -4), C(3, -4)));
    EXPECT_THAT(read("hermitian", "2\n1 1 1 0\n2 1 3 -4\n"), ::testing::ElementsAre(C(1, 0), C(3, 4), C(3, -4)));
    EXPECT_THAT(read("skew-symmetric", "1\n2 1 3 -4\n"), ::testing::ElementsAre(C(-3, 4), C(3, -4)));
    EXPECT_THAT(read("general", "2\n1 1 1 2\n1 1 3 -4\n"), ::testing::ElementsAre(C(4, -2)));
    EXPECT_THROW(read("hermitian", "1\n1 1 1 1\n"), FileError);
    EXPECT_THROW(read("general", "1\n1 1 1\n"), FileError);
    EXPECT_THROW(read("general", "1\n1 1 1 2 3\n"), FileError);
}

// Promise: matrix_market.hpp, "T is float, double or std::complex"
// Promise: matrix_market.hpp, "Whether the file is complex."
TEST(MatrixMarket, ReadsComplexArraysAndRealFilesAsComplex) {
    using C = std::complex<float>;
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n3 -4\n5 0\n");
    EXPECT_THAT(std::get<DenseMatrix<C>>(read_matrix_market<C>(folder / "a.mtx")).values,
                ::testing::ElementsAre(C(1, 0), C(3, -4), C(3, 4), C(5, 0)));
    write_text(folder / "b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n3\n");
    EXPECT_THAT(read_vector<C>(folder / "b.mtx"), ::testing::ElementsAre(C(1, 0), C(3, 0)));
    EXPECT_FALSE(holds_complex_numbers(folder / "b.mtx"));
}

// Promise: matrix_market.hpp, "Whether the file is complex."
// Promise: matrix_market.hpp, "Reads no further than its header; throws FileError"
TEST(MatrixMarket, LooksForComplexNumbersInTheHeaderAlone) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 x\n");
    EXPECT_TRUE(holds_complex_numbers(folder / "a.mtx"));
    EXPECT_THROW(holds_complex_numbers(SOLVER_TEST_DATA "/broken/no_banner.mtx"), FileError);
}

// Promise: complex.hpp, "A file as a real matrix: of a complex one the real form"
// Promise: complex.hpp, "Throws as read_csr does."
TEST(MatrixMarket, ReadsComplexFilesAsRealForms) {
    const TemporaryFolder folder;
    write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 3 -4\n");
    expect_same(read_real_form<double>(folder / "a.mtx"), CsrMatrix<double>{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {3, 4, -4, 3}});
    write_text(folder / "b.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n");
    expect_same(read_real_form<double>(folder / "b.mtx"), CsrMatrix<double>{1, 1, {0, 1}, {0}, {3}});
    EXPECT_THROW(read_real_form<double>(folder / "absent.mtx"), FileError);
}

TEST(MatrixMarket, WritesComplexNumbersThatComeBack) {
    using C = std::complex<double>;
    const TemporaryFolder folder;
    const CsrMatrix<C> a{2, 3, {0, 2, 3}, {0, 2, 1}, {{0.1, -1e-300}, {1, 0}, {-0.0, 5e-324}}};
    write_matrix_market(folder / "a.mtx", a.view());
    const auto again = read_csr<C>(folder / "a.mtx");
    EXPECT_EQ(again.values, a.values);
    EXPECT_EQ(again.column_indices, a.column_indices);
    write_vector(folder / "b.mtx.gz", std::span<const C>(a.values));
    EXPECT_EQ(read_vector<C>(folder / "b.mtx.gz"), a.values);
    EXPECT_TRUE(holds_complex_numbers(folder / "b.mtx.gz"));
}

// ------------------------------------------------------------------------------------------------------------ real files

/// An independent reader, line by line, for files without repeated entries.
struct PlainReader {
    std::string field;
    CsrMatrix<std::complex<double>> matrix;

    explicit PlainReader(const path& file) {
        const gzFile in = gzopen(file.c_str(), "rb");
        std::vector<char> line(100'000);
        gzgets(in, line.data(), line.size());
        std::string banner, object, format, symmetry;
        std::istringstream(line.data()) >> banner >> object >> format >> field >> symmetry;
        while (gzgets(in, line.data(), line.size()) != nullptr && line[0] == '%') continue;
        std::istringstream(line.data()) >> matrix.rows >> matrix.columns;
        std::vector<Entry<std::complex<double>>> entries;
        while (gzgets(in, line.data(), line.size()) != nullptr) {
            char* p = line.data();
            const auto row = static_cast<std::int32_t>(std::strtol(p, &p, 10) - 1);
            const auto column = static_cast<std::int32_t>(std::strtol(p, &p, 10) - 1);
            const double re = field == "pattern" ? 1 : std::strtod(p, &p);
            const double im = field == "complex" ? std::strtod(p, &p) : 0;
            entries.push_back({row, column, {re, im}});
            if (symmetry == "general" || row == column) continue;
            const double sign = symmetry == "skew-symmetric" ? -1 : 1;
            entries.push_back({column, row, {sign * re, symmetry == "hermitian" ? -im : sign * im}});
        }
        gzclose(in);
        std::sort(entries.begin(), entries.end(),
                  [](const auto& a, const auto& b) { return std::tie(a.row, a.column) < std::tie(b.row, b.column); });
        matrix.row_offsets.assign(matrix.rows + 1, 0);
        for (const Entry<std::complex<double>>& entry : entries) {
            ++matrix.row_offsets[entry.row + 1];
            matrix.column_indices.push_back(entry.column);
            matrix.values.push_back(entry.value);
        }
        for (std::int64_t row = 0; row < matrix.rows; ++row) matrix.row_offsets[row + 1] += matrix.row_offsets[row];
    }
};

std::vector<double> real_parts(const std::vector<std::complex<double>>& z) {
    std::vector<double> parts;
    for (const std::complex<double>& value : z) parts.push_back(value.real());
    return parts;
}

path real_matrices() {
    const char* const folder = std::getenv("SOLVER_TEST_MATRICES");
    return folder != nullptr ? path(folder) : path(SOLVER_TEST_DATA) / "../../../shared/matrices";
}

TEST(MatrixMarket, ReadsRealMatricesAsAnIndependentReaderDoes) {
    if (!std::filesystem::exists(real_matrices())) GTEST_SKIP() << real_matrices() << " is absent";
    constexpr std::uintmax_t largest = 5'000'000;  // G3_circuit and landmark take this reader too long
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(real_matrices())) {
        if (file.path().extension() != ".gz" || file.file_size() > largest) continue;
        SCOPED_TRACE(file.path().filename());
        ++files;
        const PlainReader expected(file.path());
        EXPECT_EQ(holds_complex_numbers(file.path()), expected.field == "complex");
        const auto found = read_csr<std::complex<double>>(file.path());
        EXPECT_TRUE(found.row_offsets == expected.matrix.row_offsets);
        EXPECT_TRUE(found.column_indices == expected.matrix.column_indices);
        EXPECT_TRUE(found.values == expected.matrix.values);
        if (expected.field == "complex")
            EXPECT_THAT(refusal(file.path()), HasSubstr("the matrix is complex"));
        else
            EXPECT_TRUE(real_parts(found.values) == read_csr<double>(file.path()).values);
    }
    EXPECT_GT(files, 0);
}

// -------------------------------------------------------------------------------------------------------------- mutations

/// Neither a crash nor a wrong shape: whatever happens to the bytes of a file, the reader gives a valid matrix or a FileError.
TEST(MatrixMarket, SurvivesMutatedFiles) {
    const TemporaryFolder folder;
    std::vector<std::string> seeds;
    for (const auto& [name, expected] : good_files)
        seeds.push_back(read_text(path(SOLVER_TEST_DATA "/good") / (name + ".mtx")));
    for (const auto& [name, message] : refusals) seeds.push_back(read_text(path(SOLVER_TEST_DATA "/broken") / (name + ".mtx")));
    // Sizes like these are allowed, but their row offsets alone would take gigabytes.
    for (const char* size : {"21474836", "99999999", "1000000000000"})
        std::erase_if(seeds, [&](const std::string& text) { return text.find(size) != text.npos; });
    std::mt19937 random(4);
    const std::string_view alphabet = "0123456789 \n\r\t%.-+eEdD\0xyz\xff"sv;
    int read = 0;
    const char* const effort = std::getenv("SOLVER_TEST_MUTATIONS");
    const int mutations = effort != nullptr ? std::atoi(effort) : 3000;
    for (int k = 0; k < mutations; ++k) {
        std::string text = seeds[random() % (k % 2 == 0 ? good_files.size() : seeds.size())];
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t place = random() % (text.size() + 1);
            const char letter = alphabet[random() % alphabet.size()];
            switch (random() % 4) {
                case 0:
                    text.insert(place, 1, letter);
                    break;
                case 1:
                    text.erase(place, 1 + random() % 3);
                    break;
                case 2:
                    text.insert(place, seeds[random() % seeds.size()].substr(0, random() % 80));
                    break;
                default:
                    if (place < text.size()) text[place] = letter;
            }
        }
        std::filesystem::remove(folder / "a.mtx");  // rewriting a file in place would wait for the disk
        write_text(folder / "a.mtx", text);
        try {
            const CsrMatrix<float> matrix = read_csr<float>(folder / "a.mtx", {1 + k % 3});
            check(matrix.view());
            EXPECT_TRUE(
                std::all_of(matrix.values.begin(), matrix.values.end(), [](float value) { return std::isfinite(value); }));
            ++read;
        } catch (const FileError&) {
        }
    }
    EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace solver
