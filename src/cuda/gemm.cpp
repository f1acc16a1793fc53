#include "cuda/gemm.hpp"

#include "cuda/without_gaps.hpp"
#include "solver/cuda/gemm.hpp"

namespace solver::cuda {

template <class T>
void multiply(const GemmTask<T>& task, Accuracy accuracy, const GemmOptions& options, int device) {
    const OwnedStream stream(device);
    const WithoutGaps<T> a_layout(task.a);
    const WithoutGaps<T> b_layout(task.b);
    const WithoutGaps<T> c_layout(task.c);
    const DeviceArray<T> a = a_layout.upload(device, task.a.data, "A of a product", stream.get());
    const DeviceArray<T> b = b_layout.upload(device, task.b.data, "B of a product", stream.get());
    const DeviceArray<T> c = task.beta == T(0) ? DeviceArray<T>(device, c_layout.size(), "C of a product")
                                               : c_layout.upload(device, task.c.data, "C of a product", stream.get());
    Multiplier multiplier(device);
    multiplier.gemm({task.alpha, a_layout.view(a.data()), b_layout.view(b.data()), task.beta, c_layout.view(c.data())},
                    accuracy, options, stream.get());
    c_layout.download(c, task.c.data, stream.get());
}

template void multiply(const GemmTask<float>& task, Accuracy accuracy, const GemmOptions& options, int device);
template void multiply(const GemmTask<double>& task, Accuracy accuracy, const GemmOptions& options, int device);

}  // namespace solver::cuda
