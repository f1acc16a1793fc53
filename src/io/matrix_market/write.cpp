#include "core/floating_point_guard.hpp"
#include "io/atomic_file.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "solver/numeric/complex.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <new>

namespace solver {
namespace {

/// Text that becomes a file, compressed where its name ends in .gz.
class TextFile {
public:
    explicit TextFile(const std::filesystem::path& path) : file_(path), compressed_(path.extension() == ".gz") {
        constexpr int gzip_format = 16 + MAX_WBITS;
        constexpr int default_memory = 8;
        if (compressed_ && deflateInit2(&deflater_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, default_memory,
                                        Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~TextFile() {
        if (compressed_) deflateEnd(&deflater_);
    }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    /// Room for at least 256 characters; used() says how many of them were needed.
    char* room() {
        if (text_.size() - size_ < 256) flush(Z_NO_FLUSH);
        return text_.data() + size_;
    }
    void used(const char* end) { size_ = end - text_.data(); }

    void write(std::string_view text) {
        flush(Z_NO_FLUSH);
        emit(text, Z_NO_FLUSH);
    }

    void commit() {
        flush(Z_FINISH);
        file_.commit();
    }

private:
    void flush(int mode) {
        emit({text_.data(), size_}, mode);
        size_ = 0;
    }

    void emit(std::string_view text, int mode) {
        if (!compressed_) return file_.write(text);
        deflater_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        deflater_.avail_in = static_cast<unsigned>(text.size());
        do {
            deflater_.next_out = reinterpret_cast<Bytef*>(packed_.data());
            deflater_.avail_out = static_cast<unsigned>(packed_.size());
            deflate(&deflater_, mode);
            file_.write({packed_.data(), packed_.size() - deflater_.avail_out});
        } while (deflater_.avail_out == 0);
    }

    AtomicFile file_;
    bool compressed_;
    z_stream deflater_{};
    std::vector<char> text_ = std::vector<char>(1 << 16);
    std::vector<char> packed_ = std::vector<char>(1 << 16);  // not on a stack, which may have no more
    std::size_t size_ = 0;
};

char* append(char* text, std::int64_t number) { return std::to_chars(text, text + 32, number).ptr; }

template <class T>
char* append(char* text, T value, const std::filesystem::path& path, std::int64_t row, std::int64_t column) {
    if (!std::isfinite(value))
        throw InvalidArgument(
            fmt::format("write {}: the value at row {}, column {} is {}; a Matrix Market file holds finite numbers",
                        path.string(), row + 1, column + 1, value));
    return std::to_chars(text, text + 64, value).ptr;
}

template <class T>
char* append(char* text, std::complex<T> z, const std::filesystem::path& path, std::int64_t row, std::int64_t column) {
    text = append(text, z.real(), path, row, column);
    *text++ = ' ';
    return append(text, z.imag(), path, row, column);
}

template <class T>
constexpr const char* field = is_complex<T> ? "complex" : "real";

}  // namespace

template <class T>
void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix) {
    check(matrix);
    const cpu::FloatingPointGuard guard;  // a subnormal is not 0
    TextFile file(path);
    file.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field<T>, matrix.rows, matrix.columns,
                           matrix.nonzeros()));
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            char* text = append(file.room(), row + 1);
            *text++ = ' ';
            text = append(text, std::int64_t{matrix.column_indices[k]} + 1);
            *text++ = ' ';
            text = append(text, matrix.values[k], path, row, matrix.column_indices[k]);
            *text++ = '\n';
            file.used(text);
        }
    file.commit();
}

template <class T>
void write_matrix_market(const std::filesystem::path& path, const DenseView<T>& matrix) {
    const cpu::FloatingPointGuard guard;  // a subnormal is not 0
    TextFile file(path);
    file.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field<T>, matrix.rows, matrix.columns));
    for (std::int64_t column = 0; column < matrix.columns; ++column)
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            const T value = matrix.data[row * matrix.row_stride + column * matrix.column_stride];
            char* text = append(file.room(), value, path, row, column);
            *text++ = '\n';
            file.used(text);
        }
    file.commit();
}

template <class T>
void write_vector(const std::filesystem::path& path, std::span<const T> vector) {
    const auto rows = static_cast<std::int64_t>(vector.size());
    write_matrix_market(path, DenseView<T>{rows, 1, 1, rows, vector.data()});
}

template void write_matrix_market(const std::filesystem::path&, const CsrView<float>&);
template void write_matrix_market(const std::filesystem::path&, const CsrView<double>&);
template void write_matrix_market(const std::filesystem::path&, const DenseView<float>&);
template void write_matrix_market(const std::filesystem::path&, const DenseView<double>&);
template void write_vector(const std::filesystem::path&, std::span<const float>);
template void write_vector(const std::filesystem::path&, std::span<const double>);
template void write_matrix_market(const std::filesystem::path&, const CsrView<std::complex<float>>&);
template void write_matrix_market(const std::filesystem::path&, const CsrView<std::complex<double>>&);
template void write_matrix_market(const std::filesystem::path&, const DenseView<std::complex<float>>&);
template void write_matrix_market(const std::filesystem::path&, const DenseView<std::complex<double>>&);
template void write_vector(const std::filesystem::path&, std::span<const std::complex<float>>);
template void write_vector(const std::filesystem::path&, std::span<const std::complex<double>>);

}  // namespace solver
