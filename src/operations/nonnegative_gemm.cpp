#include "solver/nonnegative_gemm.hpp"

#include "core/dense_check.hpp"
#include "cuda/without_gaps.hpp"
#include "kernels/gemm.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/error.hpp"

#include <cmath>
#include <string>

namespace solver {
namespace {

constexpr const char* operation = "non-negative product";

template <class T>
NonnegativeReport multiply_on_host(const GemmTask<T>& task, const Device& device, const NonnegativeOptions& options) {
    require_valid(operation, task);
    if (device.kind() == Device::Kind::cpu)
        throw NotSupported(
            "non-negative product on a CPU: there is none that would be faster than gemm; use gemm, or a CUDA device");
    if (task.c.rows == 0 || task.c.columns == 0) return {};
    const cuda::WithoutGaps<T> a_layout(task.a);
    const cuda::WithoutGaps<T> b_layout(task.b);
    const cuda::WithoutGaps<T> c_layout(task.c);
    const auto a = a_layout.upload(device.index(), task.a.data, "A of a non-negative product", nullptr);
    const auto b = b_layout.upload(device.index(), task.b.data, "B of a non-negative product", nullptr);
    const auto c = task.beta == T(0) ? cuda::DeviceArray<T>(device.index(), c_layout.size(), "C of a non-negative product")
                                     : c_layout.upload(device.index(), task.c.data, "C of a non-negative product", nullptr);
    const NonnegativeReport report =
        cuda::NonnegativeMultiplier(device.index())
            .gemm({task.alpha, a_layout.view(a.data()), b_layout.view(b.data()), task.beta, c_layout.view(c.data())}, options);
    c_layout.download(c, task.c.data, nullptr);
    return report;
}

}  // namespace

double nonnegative_error_factor(std::int64_t inner, int depth) {
    const double k = static_cast<double>(inner);
    const double leaf = k / std::exp2(depth);
    return std::pow(18.0, depth) * (leaf * leaf + 6 * leaf) - 6 * k;
}

NonnegativeReport dngemm(const GemmTask<double>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}
NonnegativeReport sngemm(const GemmTask<float>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}

}  // namespace solver
