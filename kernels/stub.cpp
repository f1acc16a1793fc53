#include "solver/cuda.hpp"

namespace solver::cuda {
namespace {

[[noreturn]] void built_without_cuda() {
    throw NotSupported("this library was built without CUDA; use Device::cpu(), or build it with -DSOLVER_CUDA=ON");
}

}  // namespace

int device_count() noexcept { return 0; }
DeviceDescription describe(int) { built_without_cuda(); }
void synchronize(int, Stream) { built_without_cuda(); }

namespace detail {
void* allocate(int, std::int64_t, const char*) { built_without_cuda(); }
void release(int, void*) noexcept {}
void copy_to_device(int, void*, const void*, std::int64_t, Stream) { built_without_cuda(); }
void copy_to_host(int, void*, const void*, std::int64_t, Stream) { built_without_cuda(); }
void fill_with_zeros(int, void*, std::int64_t, Stream) { built_without_cuda(); }
}  // namespace detail

template <class T>
struct SpmvPlan<T>::Analysis {};
template <class T>
SpmvPlan<T>::SpmvPlan(const DeviceCsrView<T>&, SpmvKernel, Stream) {
    built_without_cuda();
}
template <class T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>::~SpmvPlan() = default;
template <class T>
void SpmvPlan<T>::multiply(const RowTask<T>&, Accuracy, Stream, Gate) const {
    built_without_cuda();
}
template <class T>
void SpmvPlan<T>::multiply_leaving_open_rows(const RowTask<T>&, Accuracy, Stream, Gate) const {
    built_without_cuda();
}
template <class T>
void SpmvPlan<T>::finish_open_rows(const RowTask<T>&, Stream, Gate) const {
    built_without_cuda();
}
template <class T>
const std::uint32_t* SpmvPlan<T>::open_row_count() const {
    built_without_cuda();
}
template <class T>
SpmvKernel SpmvPlan<T>::kernel() const {
    built_without_cuda();
}
template <class T>
std::int64_t SpmvPlan<T>::workspace_bytes() const {
    built_without_cuda();
}
template <class T>
std::int64_t SpmvPlan<T>::rows_not_certified(Stream) const {
    built_without_cuda();
}
template class SpmvPlan<float>;
template class SpmvPlan<double>;

struct Reducer::Workspace {};
Reducer::Reducer(int) { built_without_cuda(); }
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;
void Reducer::reduce(Reduction, std::int64_t, const double*, const double*, Accuracy, double*, Stream) { built_without_cuda(); }
void Reducer::reduce(Reduction, std::int64_t, const float*, const float*, Accuracy, float*, Stream) { built_without_cuda(); }

}  // namespace solver::cuda
