#include "eigen_peer.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <unsupported/Eigen/SparseExtra>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace solver::bench::eigen {
namespace {

template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <class T>
Eigen::Map<const Vector<T>> part_of(std::span<const T> x, int part, int parts) {
    const auto size = static_cast<std::int64_t>(x.size());
    const std::int64_t begin = size * part / parts;
    return {x.data() + begin, size * (part + 1) / parts - begin};
}

/// The sum of what of_part(part) returns.
template <class T, class OfPart>
T sum_of_parts(int parts, OfPart of_part) {
    if (parts == 1) return of_part(0);
    T sum = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) reduction(+ : sum)
#endif
    for (int part = 0; part < parts; ++part) sum += of_part(part);
    return sum;
}

}  // namespace

std::string description() {
    return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + ")";
}

int usable_threads([[maybe_unused]] int threads) {
#ifdef _OPENMP
    return threads;
#else
    return 1;
#endif
}

void end_threads() {
#ifdef _OPENMP
    omp_pause_resource_all(omp_pause_soft);
#endif
}

template <class T>
struct SparseMatrix<T>::Storage {
    Eigen::SparseMatrix<T, Eigen::RowMajor, int> matrix;
};

template <class T>
SparseMatrix<T>::SparseMatrix() : storage_(std::make_shared<Storage>()) {}

template <class T>
SparseMatrix<T>::SparseMatrix(const CsrView<T>& a) : SparseMatrix() {
    const std::vector<int> row_offsets(a.row_offsets.begin(), a.row_offsets.end());
    storage_->matrix = Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, int>>(
        a.rows, a.columns, a.nonzeros(), row_offsets.data(), a.column_indices.data(), a.values.data());
}

template <class T>
void SparseMatrix<T>::multiply(int threads, std::span<const T> x, std::span<T> y) const {
    Eigen::setNbThreads(threads);
    const Eigen::Map<const Vector<T>> vector(x.data(), static_cast<Eigen::Index>(x.size()));
    Eigen::Map<Vector<T>> product(y.data(), static_cast<Eigen::Index>(y.size()));
    product.noalias() = storage_->matrix * vector;
}

template <class T>
bool SparseMatrix<T>::load(const std::filesystem::path& path) {
    storage_->matrix = {};
    return Eigen::loadMarket(storage_->matrix, path.string());
}

template <class T>
CsrMatrix<T> SparseMatrix<T>::csr() const {
    const auto& a = storage_->matrix;
    CsrMatrix<T> matrix;
    matrix.rows = a.rows();
    matrix.columns = a.cols();
    matrix.row_offsets.assign(a.outerIndexPtr(), a.outerIndexPtr() + a.outerSize() + 1);
    matrix.column_indices.assign(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros());
    matrix.values.assign(a.valuePtr(), a.valuePtr() + a.nonZeros());
    return matrix;
}

template <class T>
bool fits(const CsrView<T>& a) {
    return a.nonzeros() <= std::numeric_limits<int>::max();
}

template <class T>
T sum(std::span<const T> x, int parts) {
    return sum_of_parts<T>(parts, [&](int part) { return part_of(x, part, parts).sum(); });
}

template <class T>
T dot(std::span<const T> x, std::span<const T> y, int parts) {
    return sum_of_parts<T>(parts, [&](int part) { return part_of(x, part, parts).dot(part_of(y, part, parts)); });
}

template <class T>
T norm2(std::span<const T> x, int parts) {
    return std::sqrt(sum_of_parts<T>(parts, [&](int part) { return part_of(x, part, parts).squaredNorm(); }));
}

template <class T>
void multiply(int threads, std::int64_t n, std::span<const T> a, std::span<const T> b, std::span<T> c) {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    Eigen::setNbThreads(threads);
    Eigen::Map<Matrix> product(c.data(), n, n);
    product.noalias() = Eigen::Map<const Matrix>(a.data(), n, n) * Eigen::Map<const Matrix>(b.data(), n, n);
}

template class SparseMatrix<float>;
template class SparseMatrix<double>;
template class SparseMatrix<std::complex<float>>;
template class SparseMatrix<std::complex<double>>;
template bool fits(const CsrView<float>&);
template bool fits(const CsrView<double>&);
template float sum(std::span<const float>, int);
template double sum(std::span<const double>, int);
template float dot(std::span<const float>, std::span<const float>, int);
template double dot(std::span<const double>, std::span<const double>, int);
template float norm2(std::span<const float>, int);
template double norm2(std::span<const double>, int);
template void multiply(int, std::int64_t, std::span<const float>, std::span<const float>, std::span<float>);
template void multiply(int, std::int64_t, std::span<const double>, std::span<const double>, std::span<double>);
template void multiply(int, std::int64_t, std::span<const std::complex<float>>, std::span<const std::complex<float>>,
                       std::span<std::complex<float>>);
template void multiply(int, std::int64_t, std::span<const std::complex<double>>, std::span<const std::complex<double>>,
                       std::span<std::complex<double>>);

}  // namespace solver::bench::eigen
