#include "cuda/reduce.hpp"
#include "kernels/gemm.hpp"
#include "solver/cuda/memory.hpp"

#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace solver::cuda {
namespace {

/// What a reduction needs besides its vectors.
struct Workspace {
    using Result = ComplexExpansion<double>;  // or anything smaller

    explicit Workspace(int on_device) : device(on_device), stream(device), reducer(device), result(device, 1, "a result") {}

    int device;
    OwnedStream stream;
    Reducer reducer;
    DeviceArray<Result> result;
};

/// Keeps workspaces from one reduction to the next, since making one takes longer than most reductions.
class Workspaces {
public:
    std::unique_ptr<Workspace> take(int device) {
        const std::lock_guard lock(mutex_);
        auto& free = free_[device];
        if (free.empty()) return std::make_unique<Workspace>(device);
        auto taken = std::move(free.back());
        free.pop_back();
        return taken;
    }

    void give_back(std::unique_ptr<Workspace> workspace) {
        const std::lock_guard lock(mutex_);
        auto& free = free_[workspace->device];
        free.push_back(std::move(workspace));
    }

private:
    std::mutex mutex_;
    std::map<int, std::vector<std::unique_ptr<Workspace>>> free_;
};

Workspaces& workspaces() {
    static Workspaces all;
    return all;
}

/// A vector on a device: where it lies, if that is one already, else a copy there.
template <class T>
class OnDevice {
public:
    OnDevice(int device, std::span<const T> x, Stream stream)
        : copy_(lies_on_a_device(x.data()) ? DeviceArray<T>() : DeviceArray<T>(device, x, "a vector", stream)),
          data_(copy_.data() == nullptr ? x.data() : copy_.data()),
          size_(static_cast<std::int64_t>(x.size())) {}

    const T* data() const { return data_; }
    std::int64_t size() const { return size_; }

private:
    DeviceArray<T> copy_;
    const T* data_;
    std::int64_t size_;
};

/// What `put(reducer, x, y, result, stream)` puts on a stream.
template <class Result, class T, class Put>
Result reduced(std::span<const T> x, std::span<const T> y, int device, const Put& put) {
    auto workspace = workspaces().take(device);
    const Stream stream = workspace->stream.get();
    const OnDevice<T> on_x(device, x, stream), on_y(device, y, stream);
    static_assert(sizeof(Result) <= sizeof(Workspace::Result));
    auto* const device_result = reinterpret_cast<Result*>(workspace->result.data());
    put(workspace->reducer, on_x, on_y, device_result, stream);
    Result result;
    detail::copy_to_host(device, &result, device_result, sizeof result, stream);
    workspaces().give_back(std::move(workspace));
    return result;
}

using Floats = std::span<const float>;
using Doubles = std::span<const double>;
using ComplexFloats = std::span<const std::complex<float>>;
using ComplexDoubles = std::span<const std::complex<double>>;

}  // namespace

template <class Kind, class S>
S reduce(Kind kind, std::span<const S> x, std::span<const S> y, Accuracy accuracy, int device) {
    return reduced<S>(x, y, device, [&](Reducer& reducer, const auto& on_x, const auto& on_y, S* result, Stream stream) {
        reducer.reduce(kind, on_x.size(), on_x.data(), on_y.data(), accuracy, result, stream);
    });
}

template <class Exact, class Kind, class S>
Exact expansion(Kind kind, std::span<const S> x, std::span<const S> y, int device) {
    return reduced<Exact>(x, y, device,
                          [&](Reducer& reducer, const auto& on_x, const auto& on_y, Exact* result, Stream stream) {
                              reducer.expand(kind, on_x.size(), on_x.data(), on_y.data(), result, stream);
                          });
}

template float reduce(Reduction, Floats, Floats, Accuracy, int);
template double reduce(Reduction, Doubles, Doubles, Accuracy, int);
template Expansion<float> expansion(Reduction, Floats, Floats, int);
template Expansion<double> expansion(Reduction, Doubles, Doubles, int);
template std::complex<float> reduce(ComplexReduction, ComplexFloats, ComplexFloats, Accuracy, int);
template std::complex<double> reduce(ComplexReduction, ComplexDoubles, ComplexDoubles, Accuracy, int);
template ComplexExpansion<float> expansion(ComplexReduction, ComplexFloats, ComplexFloats, int);
template ComplexExpansion<double> expansion(ComplexReduction, ComplexDoubles, ComplexDoubles, int);

}  // namespace solver::cuda
