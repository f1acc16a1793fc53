#include "complex.hpp"
#include "elimination.hpp"
#include "facts.hpp"
#include "gemm.hpp"
#include "multigrid.hpp"
#include "multigrid/place.hpp"
#include "packed.hpp"
#include "products.hpp"
#include "reach.hpp"
#include "solver/cuda/gemm.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/cuda/partial.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "triangular.hpp"
#include "vectors.hpp"

namespace solver::cuda {
namespace {

[[noreturn]] void built_without_cuda() {
    throw NotSupported("this library was built without CUDA; use the processor, or build it where nvcc is found");
}

}  // namespace

Platform platform() { return {}; }
int device_count() noexcept { return 0; }
DeviceDescription describe(int) { built_without_cuda(); }
bool has_code_for(int) { built_without_cuda(); }
void synchronize(int, Stream) { built_without_cuda(); }

namespace detail {
Stream create_stream(int) { built_without_cuda(); }
void destroy_stream(int, Stream) noexcept {}
void* allocate(int, std::int64_t, const char*) { built_without_cuda(); }
void release(int, void*) noexcept {}
void copy_to_device(int, void*, const void*, std::int64_t, Stream) { built_without_cuda(); }
void copy_to_host(int, void*, const void*, std::int64_t, Stream) { built_without_cuda(); }
void fill_with_zeros(int, void*, std::int64_t, Stream) { built_without_cuda(); }
}  // namespace detail

template <class T>
void check(const DeviceCsrView<T>&, Stream) {
    built_without_cuda();
}
template void check(const DeviceCsrView<float>&, Stream);
template void check(const DeviceCsrView<double>&, Stream);
template void check(const DeviceCsrView<std::complex<float>>&, Stream);
template void check(const DeviceCsrView<std::complex<double>>&, Stream);

template <class T>
DeviceMatrix<T> real_form(const DeviceCsrView<std::complex<T>>&, Stream) {
    built_without_cuda();
}
template DeviceMatrix<float> real_form(const DeviceCsrView<std::complex<float>>&, Stream);
template DeviceMatrix<double> real_form(const DeviceCsrView<std::complex<double>>&, Stream);

template <class T>
void round_complex_rows(const DeviceCsrView<T>&, const RowTask<std::complex<T>>&, const RoundedTwice<T>&, Stream) {
    built_without_cuda();
}
template void round_complex_rows(const DeviceCsrView<float>&, const RowTask<std::complex<float>>&, const RoundedTwice<float>&,
                                 Stream);
template void round_complex_rows(const DeviceCsrView<double>&, const RowTask<std::complex<double>>&,
                                 const RoundedTwice<double>&, Stream);

template <class T>
FactsOnDevice facts_of(const DeviceCsrView<T>&, T*, Stream) {
    built_without_cuda();
}
template FactsOnDevice facts_of(const DeviceCsrView<float>&, float*, Stream);
template FactsOnDevice facts_of(const DeviceCsrView<double>&, double*, Stream);

template <class T>
bool copy_diagonal(const DeviceCsrView<T>&, T*, Stream) {
    built_without_cuda();
}
template bool copy_diagonal(const DeviceCsrView<float>&, float*, Stream);
template bool copy_diagonal(const DeviceCsrView<double>&, double*, Stream);

template <class T>
bool has_rows_beyond(const DeviceCsrView<T>&, std::int64_t, Stream) {
    built_without_cuda();
}
template bool has_rows_beyond(const DeviceCsrView<float>&, std::int64_t, Stream);
template bool has_rows_beyond(const DeviceCsrView<double>&, std::int64_t, Stream);

template <class T>
std::unique_ptr<CsrProducts<T>> make_products(const DeviceCsrView<T>&, SpmvKernel, Stream, std::int64_t, OffsetWidth) {
    built_without_cuda();
}
template std::unique_ptr<CsrProducts<float>> make_products(const DeviceCsrView<float>&, SpmvKernel, Stream, std::int64_t,
                                                           OffsetWidth);
template std::unique_ptr<CsrProducts<double>> make_products(const DeviceCsrView<double>&, SpmvKernel, Stream, std::int64_t,
                                                            OffsetWidth);

template <class T>
std::unique_ptr<MatrixProducts<T>> make_products(const DeviceDenseRows<T>&, Stream, std::int64_t) {
    built_without_cuda();
}
template std::unique_ptr<MatrixProducts<float>> make_products(const DeviceDenseRows<float>&, Stream, std::int64_t);
template std::unique_ptr<MatrixProducts<double>> make_products(const DeviceDenseRows<double>&, Stream, std::int64_t);

template <class T>
const char* why_not_packed(int, std::int64_t, std::int64_t) {
    built_without_cuda();
}
template <class T>
PackedOnDevice<T> pack(const DeviceCsrView<T>&, Stream) {
    built_without_cuda();
}
template <class T>
PackedOnDevice<T> repack(const PackedOnDevice<T>&, const DeviceCsrView<T>&, Stream) {
    built_without_cuda();
}
template <class T>
PackedDescription PackedOnDevice<T>::describe(Stream) const {
    built_without_cuda();
}
template const char* why_not_packed<float>(int, std::int64_t, std::int64_t);
template const char* why_not_packed<double>(int, std::int64_t, std::int64_t);
template PackedOnDevice<float> pack(const DeviceCsrView<float>&, Stream);
template PackedOnDevice<double> pack(const DeviceCsrView<double>&, Stream);
template PackedOnDevice<float> repack(const PackedOnDevice<float>&, const DeviceCsrView<float>&, Stream);
template PackedOnDevice<double> repack(const PackedOnDevice<double>&, const DeviceCsrView<double>&, Stream);
template PackedDescription PackedOnDevice<float>::describe(Stream) const;
template PackedDescription PackedOnDevice<double>::describe(Stream) const;

struct Reducer::Workspace {};
Reducer::Reducer(int) { built_without_cuda(); }
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;
void Reducer::reduce(Reduction, std::int64_t, const double*, const double*, Accuracy, double*, Stream) { built_without_cuda(); }
void Reducer::reduce(Reduction, std::int64_t, const float*, const float*, Accuracy, float*, Stream) { built_without_cuda(); }
void Reducer::dots(std::int64_t, std::span<const Factors<double>>, Accuracy, double*, Stream) { built_without_cuda(); }
void Reducer::dots(std::int64_t, std::span<const Factors<float>>, Accuracy, float*, Stream) { built_without_cuda(); }
void Reducer::dots_and_norm2(std::int64_t, std::span<const Factors<double>>, const double*, Accuracy, double*, Stream) {
    built_without_cuda();
}
void Reducer::dots_and_norm2(std::int64_t, std::span<const Factors<float>>, const float*, Accuracy, float*, Stream) {
    built_without_cuda();
}
void Reducer::expand(Reduction, std::int64_t, const double*, const double*, Expansion<double>*, Stream) {
    built_without_cuda();
}
void Reducer::expand(Reduction, std::int64_t, const float*, const float*, Expansion<float>*, Stream) { built_without_cuda(); }
void Reducer::reduce(ComplexReduction, std::int64_t, const std::complex<double>*, const std::complex<double>*, Accuracy,
                     std::complex<double>*, Stream) {
    built_without_cuda();
}
void Reducer::reduce(ComplexReduction, std::int64_t, const std::complex<float>*, const std::complex<float>*, Accuracy,
                     std::complex<float>*, Stream) {
    built_without_cuda();
}
void Reducer::expand(ComplexReduction, std::int64_t, const std::complex<double>*, const std::complex<double>*,
                     ComplexExpansion<double>*, Stream) {
    built_without_cuda();
}
void Reducer::expand(ComplexReduction, std::int64_t, const std::complex<float>*, const std::complex<float>*,
                     ComplexExpansion<float>*, Stream) {
    built_without_cuda();
}

struct PartialReducer::Workspace {};
PartialReducer::PartialReducer(int) { built_without_cuda(); }
PartialReducer::PartialReducer(PartialReducer&&) noexcept = default;
PartialReducer& PartialReducer::operator=(PartialReducer&&) noexcept = default;
PartialReducer::~PartialReducer() = default;
void PartialReducer::dots(std::int64_t, std::span<const Factors<double>>, PartialSum<double>*, Stream) { built_without_cuda(); }

struct Multiplier::Workspace {};
Multiplier::Multiplier(int, std::int64_t) { built_without_cuda(); }
Multiplier::Multiplier(Multiplier&&) noexcept = default;
Multiplier& Multiplier::operator=(Multiplier&&) noexcept = default;
Multiplier::~Multiplier() = default;
void Multiplier::gemm(const GemmTask<double>&, Accuracy, const GemmOptions&, Stream) { built_without_cuda(); }
void Multiplier::gemm(const GemmTask<float>&, Accuracy, const GemmOptions&, Stream) { built_without_cuda(); }
void Multiplier::gemm(const GemmTask<std::complex<double>>&, Accuracy, Conjugation, Stream) { built_without_cuda(); }
void Multiplier::gemm(const GemmTask<std::complex<float>>&, Accuracy, Conjugation, Stream) { built_without_cuda(); }
GemmReport Multiplier::report(Stream) const { built_without_cuda(); }

struct NonnegativeMultiplier::Workspace {};
NonnegativeMultiplier::NonnegativeMultiplier(int) { built_without_cuda(); }
NonnegativeMultiplier::NonnegativeMultiplier(NonnegativeMultiplier&&) noexcept = default;
NonnegativeMultiplier& NonnegativeMultiplier::operator=(NonnegativeMultiplier&&) noexcept = default;
NonnegativeMultiplier::~NonnegativeMultiplier() = default;
NonnegativeReport NonnegativeMultiplier::gemm(const GemmTask<double>&, const NonnegativeOptions&, Stream) {
    built_without_cuda();
}
NonnegativeReport NonnegativeMultiplier::gemm(const GemmTask<float>&, const NonnegativeOptions&, Stream) {
    built_without_cuda();
}
bool lies_on_a_device(const void*) { return false; }

std::int64_t eliminate(int, std::span<double>, std::span<std::int32_t>, Stream) { built_without_cuda(); }

template <class T>
struct TriangularSystem<T>::Analysis {};
template <class T>
TriangularSystem<T>::TriangularSystem(int, const CsrView<T>&, Triangle, Diagonal) {
    built_without_cuda();
}
template <class T>
TriangularSystem<T>::TriangularSystem(int, const PairedTriangle<T>&) {
    built_without_cuda();
}
template <class T>
TriangularSystem<T>::~TriangularSystem() = default;
template <class T>
void TriangularSystem<T>::solve(const T*, T*, Accuracy, Stream, Gate) const {
    built_without_cuda();
}
template <class T>
std::int64_t TriangularSystem<T>::bytes() const {
    built_without_cuda();
}
template class TriangularSystem<float>;
template class TriangularSystem<double>;

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_identity(int, std::int64_t) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_jacobi(int, std::span<const T>) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_complex_jacobi(int, std::span<const T>) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_lu(int, const CsrView<T>&, const CsrView<T>&) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_two_products(int, const CsrView<T>&, const CsrView<T>&) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_block_triangular(int, std::unique_ptr<DevicePreconditioner<T>>, const CsrView<T>&,
                                                               std::unique_ptr<DevicePreconditioner<T>>) {
    built_without_cuda();
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_prepared(int, std::unique_ptr<DevicePreconditioner<T>>,
                                                       std::span<const std::int32_t>, std::span<const std::int16_t>,
                                                       std::span<const std::int32_t>, std::span<const std::int16_t>) {
    built_without_cuda();
}
template std::unique_ptr<DevicePreconditioner<float>> make_identity(int, std::int64_t);
template std::unique_ptr<DevicePreconditioner<double>> make_identity(int, std::int64_t);
template std::unique_ptr<DevicePreconditioner<float>> make_jacobi(int, std::span<const float>);
template std::unique_ptr<DevicePreconditioner<double>> make_jacobi(int, std::span<const double>);
template std::unique_ptr<DevicePreconditioner<float>> make_complex_jacobi(int, std::span<const float>);
template std::unique_ptr<DevicePreconditioner<double>> make_complex_jacobi(int, std::span<const double>);
template std::unique_ptr<DevicePreconditioner<float>> make_lu(int, const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<DevicePreconditioner<double>> make_lu(int, const CsrView<double>&, const CsrView<double>&);
template std::unique_ptr<DevicePreconditioner<float>> make_two_products(int, const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<DevicePreconditioner<double>> make_two_products(int, const CsrView<double>&, const CsrView<double>&);
template std::unique_ptr<DevicePreconditioner<float>> make_block_triangular(int, std::unique_ptr<DevicePreconditioner<float>>,
                                                                            const CsrView<float>&,
                                                                            std::unique_ptr<DevicePreconditioner<float>>);
template std::unique_ptr<DevicePreconditioner<double>> make_block_triangular(int, std::unique_ptr<DevicePreconditioner<double>>,
                                                                             const CsrView<double>&,
                                                                             std::unique_ptr<DevicePreconditioner<double>>);
template std::unique_ptr<DevicePreconditioner<float>> make_prepared(int, std::unique_ptr<DevicePreconditioner<float>>,
                                                                    std::span<const std::int32_t>,
                                                                    std::span<const std::int16_t>,
                                                                    std::span<const std::int32_t>,
                                                                    std::span<const std::int16_t>);
template std::unique_ptr<DevicePreconditioner<double>> make_prepared(int, std::unique_ptr<DevicePreconditioner<double>>,
                                                                     std::span<const std::int32_t>,
                                                                     std::span<const std::int16_t>,
                                                                     std::span<const std::int32_t>,
                                                                     std::span<const std::int16_t>);

std::int64_t CudaPlace::default_memory_limit() const { built_without_cuda(); }
bool CudaPlace::suits_cycle_in_floats(const View<double>&) const { built_without_cuda(); }
DeviceNearNullSpace CudaPlace::space(int, int, std::span<const double>) const { built_without_cuda(); }
DeviceAggregates CudaPlace::aggregate(const Graph&) const { built_without_cuda(); }
DeviceTentative CudaPlace::tentative(Aggregates, const Space&) const { built_without_cuda(); }
void CudaPlace::mirror_upper_triangle(DeviceMatrix<double>&) const { built_without_cuda(); }
template <class T>
bool CudaPlace::has_sorted_rows(const View<T>&) const {
    built_without_cuda();
}
template <class T>
bool CudaPlace::is_symmetric(const View<T>&, OwnTranspose) const {
    built_without_cuda();
}
template <class T>
int CudaPlace::unknowns_per_node(const View<T>&) const {
    built_without_cuda();
}
template <class V, class T>
DeviceArray<double> CudaPlace::inverse_diagonal(const View<T>&, std::int64_t&) const {
    built_without_cuda();
}
template <class T>
double CudaPlace::gershgorin_bound(const View<T>&, const DeviceArray<double>&) const {
    built_without_cuda();
}
template <class T>
double CudaPlace::power_method(const View<T>&, const DeviceArray<double>&, int, std::uint64_t) const {
    built_without_cuda();
}
template <class T>
DeviceMatrix<T> CudaPlace::transpose(const View<T>&) const {
    built_without_cuda();
}
template <class T>
DeviceMatrix<T> CudaPlace::symmetric_magnitudes(const View<T>&, const View<T>&) const {
    built_without_cuda();
}
template <class T>
DeviceMatrix<T> CudaPlace::magnitudes_of_nodes(const View<T>&, int) const {
    built_without_cuda();
}
template <class T>
DeviceGraph CudaPlace::strong_connections(const View<T>&, double) const {
    built_without_cuda();
}
template <class V>
DeviceMatrix<V> CudaPlace::matrix_of(const Tentative&) const {
    built_without_cuda();
}
template <class V, class T>
DeviceMatrix<V> CudaPlace::smoothed_prolongator(const View<T>&, const Graph&, const Tentative&) const {
    built_without_cuda();
}
template <class V, class T>
std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<V>&, const View<T>&, const View<V>&,
                                                                std::int64_t) const {
    built_without_cuda();
}
template <class T>
CsrMatrix<T> CudaPlace::to_host(const View<T>&) const {
    built_without_cuda();
}
template <class T>
DeviceMatrix<T> CudaPlace::from_host(const CsrMatrix<T>&) const {
    built_without_cuda();
}
template <class V>
std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<V>>, std::int64_t) const {
    built_without_cuda();
}
template <class V, class T>
DeviceMatrix<V> CudaPlace::rounded(const View<T>&) const {
    built_without_cuda();
}
template <class V>
DeviceArray<V> CudaPlace::rounded(const DeviceArray<double>&) const {
    built_without_cuda();
}
template bool CudaPlace::has_sorted_rows(const View<float>&) const;
template bool CudaPlace::has_sorted_rows(const View<double>&) const;
template bool CudaPlace::is_symmetric(const View<float>&, OwnTranspose) const;
template bool CudaPlace::is_symmetric(const View<double>&, OwnTranspose) const;
template int CudaPlace::unknowns_per_node(const View<float>&) const;
template int CudaPlace::unknowns_per_node(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::symmetric_magnitudes(const View<float>&, const View<float>&) const;
template DeviceMatrix<double> CudaPlace::symmetric_magnitudes(const View<double>&, const View<double>&) const;
template DeviceMatrix<float> CudaPlace::magnitudes_of_nodes(const View<float>&, int) const;
template DeviceMatrix<double> CudaPlace::magnitudes_of_nodes(const View<double>&, int) const;
template DeviceGraph CudaPlace::strong_connections(const View<float>&, double) const;
template DeviceGraph CudaPlace::strong_connections(const View<double>&, double) const;
template DeviceArray<double> CudaPlace::inverse_diagonal<float>(const View<float>&, std::int64_t&) const;
template DeviceArray<double> CudaPlace::inverse_diagonal<float>(const View<double>&, std::int64_t&) const;
template DeviceArray<double> CudaPlace::inverse_diagonal<double>(const View<double>&, std::int64_t&) const;
template DeviceMatrix<float> CudaPlace::rounded<float>(const View<float>&) const;
template DeviceMatrix<float> CudaPlace::rounded<float>(const View<double>&) const;
template DeviceMatrix<double> CudaPlace::rounded<double>(const View<float>&) const;
template DeviceMatrix<double> CudaPlace::rounded<double>(const View<double>&) const;
template DeviceArray<float> CudaPlace::rounded<float>(const DeviceArray<double>&) const;
template DeviceArray<double> CudaPlace::rounded<double>(const DeviceArray<double>&) const;
template double CudaPlace::gershgorin_bound(const View<float>&, const DeviceArray<double>&) const;
template double CudaPlace::gershgorin_bound(const View<double>&, const DeviceArray<double>&) const;
template double CudaPlace::power_method(const View<float>&, const DeviceArray<double>&, int, std::uint64_t) const;
template double CudaPlace::power_method(const View<double>&, const DeviceArray<double>&, int, std::uint64_t) const;
template CsrMatrix<float> CudaPlace::to_host(const View<float>&) const;
template CsrMatrix<double> CudaPlace::to_host(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::from_host(const CsrMatrix<float>&) const;
template DeviceMatrix<double> CudaPlace::from_host(const CsrMatrix<double>&) const;
template std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<float>>, std::int64_t) const;
template std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<double>>, std::int64_t) const;
template DeviceMatrix<float> CudaPlace::transpose(const View<float>&) const;
template DeviceMatrix<double> CudaPlace::transpose(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::matrix_of<float>(const Tentative&) const;
template DeviceMatrix<double> CudaPlace::matrix_of<double>(const Tentative&) const;
template DeviceMatrix<float> CudaPlace::smoothed_prolongator<float>(const View<float>&, const Graph&, const Tentative&) const;
template DeviceMatrix<float> CudaPlace::smoothed_prolongator<float>(const View<double>&, const Graph&, const Tentative&) const;
template DeviceMatrix<double> CudaPlace::smoothed_prolongator<double>(const View<double>&, const Graph&,
                                                                      const Tentative&) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<float>&, const View<float>&,
                                                                         const View<float>&, std::int64_t) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<float>&, const View<double>&,
                                                                         const View<float>&, std::int64_t) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<double>&, const View<double>&,
                                                                         const View<double>&, std::int64_t) const;

template <class V>
using SharedLevels = std::shared_ptr<const DeviceLevels<V>>;

template <class V>
SharedLevels<V> copy_to_device(int, const amg::Levels<V>&) {
    built_without_cuda();
}
template SharedLevels<float> copy_to_device(int, const amg::Levels<float>&);
template SharedLevels<double> copy_to_device(int, const amg::Levels<double>&);

template <class T, class V>
std::unique_ptr<DevicePreconditioner<T>> make_multigrid(int, SharedLevels<V>) {
    built_without_cuda();
}
template std::unique_ptr<DevicePreconditioner<float>> make_multigrid(int, SharedLevels<float>);
template std::unique_ptr<DevicePreconditioner<double>> make_multigrid(int, SharedLevels<float>);
template std::unique_ptr<DevicePreconditioner<double>> make_multigrid(int, SharedLevels<double>);

void find_largest_magnitude(int, std::int64_t, const double*, std::uint64_t*, Stream, Gate) { built_without_cuda(); }

template <class T>
void multiply_elements(const DeviceArray<T>&, const DeviceArray<T>&, const DeviceArray<T>&, Stream) {
    built_without_cuda();
}
template <class T>
T norm2(Reducer&, const DeviceArray<T>&, Accuracy, const DeviceArray<double>&, Stream) {
    built_without_cuda();
}
template void multiply_elements(const DeviceArray<float>&, const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void multiply_elements(const DeviceArray<double>&, const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template float norm2(Reducer&, const DeviceArray<float>&, Accuracy, const DeviceArray<double>&, Stream);
template double norm2(Reducer&, const DeviceArray<double>&, Accuracy, const DeviceArray<double>&, Stream);

std::int64_t free_bytes(int) { built_without_cuda(); }

}  // namespace solver::cuda
