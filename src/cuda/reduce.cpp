#include "cuda/reduce.hpp"

namespace solver::cuda {

template <class T>
T reduce(Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy, int device) {
    const OwnedStream stream(device);
    const DeviceArray<T> device_x(device, x, "a vector", stream.get());
    const DeviceArray<T> device_y(device, y, "a vector", stream.get());
    const DeviceArray<T> device_result(device, 1, "a result");
    Reducer reducer(device);
    reducer.reduce(reduction, device_x.size(), device_x.data(), device_y.data(), accuracy, device_result.data(), stream.get());
    T result;
    device_result.copy_to(std::span(&result, 1), stream.get());
    return result;
}

template float reduce(Reduction, std::span<const float>, std::span<const float>, Accuracy, int);
template double reduce(Reduction, std::span<const double>, std::span<const double>, Accuracy, int);

}  // namespace solver::cuda
