#include "cuda/gemm.hpp"

#include "solver/cuda.hpp"
#include "solver/cuda/gemm.hpp"

#include <algorithm>
#include <vector>

namespace solver::cuda {
namespace {

/// The elements of a matrix without gaps, in the order it has them.
template <class T>
class WithoutGaps {
public:
    explicit WithoutGaps(const DenseView<T>& a)
        : by_rows_(a.row_stride != 1),
          line_(by_rows_ ? a.columns : a.rows),
          lines_(by_rows_ ? a.rows : a.columns),
          leading_(by_rows_ ? a.row_stride : a.column_stride) {}

    std::int64_t size() const { return line_ * lines_; }

    /// The same matrix at `data`.
    MutableDenseView<T> view(T* data) const {
        if (by_rows_) return {lines_, line_, line_, 1, data};
        return {line_, lines_, 1, line_, data};
    }

    DeviceArray<T> upload(int device, const T* from, const char* purpose, Stream stream) const {
        if (!has_gaps()) return {device, {from, static_cast<std::size_t>(size())}, purpose, stream};
        std::vector<T> elements(static_cast<std::size_t>(size()));
        for (std::int64_t i = 0; i < lines_; ++i) std::copy_n(from + i * leading_, line_, elements.data() + i * line_);
        return {device, elements, purpose, stream};
    }

    void download(const DeviceArray<T>& from, T* to, Stream stream) const {
        if (!has_gaps()) return from.copy_to({to, static_cast<std::size_t>(size())}, stream);
        std::vector<T> elements(static_cast<std::size_t>(size()));
        from.copy_to(elements, stream);
        for (std::int64_t i = 0; i < lines_; ++i) std::copy_n(elements.data() + i * line_, line_, to + i * leading_);
    }

private:
    bool has_gaps() const { return lines_ > 1 && leading_ > line_; }

    bool by_rows_;
    std::int64_t line_;
    std::int64_t lines_;
    std::int64_t leading_;
};

}  // namespace

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
