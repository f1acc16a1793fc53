#include "cuda/gemm.hpp"

#include "cuda/without_gaps.hpp"
#include "solver/cuda/gemm.hpp"

namespace solver::cuda {
namespace {

/// Calls product(multiplier, task, stream) with the matrices of `task` in the device's memory, and gets C.
template <class S, class Product>
void with_copies(const GemmTask<S>& task, int device, const Product& product) {
    const OwnedStream stream(device);
    const WithoutGaps<S> a_layout(task.a);
    const WithoutGaps<S> b_layout(task.b);
    const WithoutGaps<S> c_layout(task.c);
    const DeviceArray<S> a = a_layout.upload(device, task.a.data, "A of a product", stream.get());
    const DeviceArray<S> b = b_layout.upload(device, task.b.data, "B of a product", stream.get());
    const DeviceArray<S> c = task.beta == S(0) ? DeviceArray<S>(device, c_layout.size(), "C of a product")
                                               : c_layout.upload(device, task.c.data, "C of a product", stream.get());
    Multiplier multiplier(device);
    product(multiplier,
            GemmTask<S>{task.alpha, a_layout.view(a.data()), b_layout.view(b.data()), task.beta, c_layout.view(c.data())},
            stream.get());
    c_layout.download(c, task.c.data, stream.get());
}

}  // namespace

template <class T>
void multiply(const GemmTask<T>& task, Accuracy accuracy, const GemmOptions& options, int device) {
    with_copies(task, device, [&](Multiplier& multiplier, const GemmTask<T>& copied, Stream stream) {
        multiplier.gemm(copied, accuracy, options, stream);
    });
}

template <class T>
void multiply(const GemmTask<std::complex<T>>& task, Accuracy accuracy, Conjugation conjugation, int device) {
    with_copies(task, device, [&](Multiplier& multiplier, const GemmTask<std::complex<T>>& copied, Stream stream) {
        multiplier.gemm(copied, accuracy, conjugation, stream);
    });
}

template void multiply(const GemmTask<float>&, Accuracy, const GemmOptions&, int);
template void multiply(const GemmTask<double>&, Accuracy, const GemmOptions&, int);
template void multiply(const GemmTask<std::complex<float>>&, Accuracy, Conjugation, int);
template void multiply(const GemmTask<std::complex<double>>&, Accuracy, Conjugation, int);

}  // namespace solver::cuda
