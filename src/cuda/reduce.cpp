#include "cuda/reduce.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace solver::cuda {
namespace {

/// What a reduction needs besides its vectors.
struct Workspace {
    explicit Workspace(int on_device) : device(on_device), stream(device), reducer(device), result(device, 1, "a result") {}

    int device;
    OwnedStream stream;
    Reducer reducer;
    DeviceArray<double> result;
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

}  // namespace

template <class T>
T reduce(Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy, int device) {
    auto workspace = workspaces().take(device);
    const Stream stream = workspace->stream.get();
    const DeviceArray<T> device_x(device, x, "a vector", stream);
    const DeviceArray<T> device_y(device, y, "a vector", stream);
    T* const device_result = reinterpret_cast<T*>(workspace->result.data());
    workspace->reducer.reduce(reduction, device_x.size(), device_x.data(), device_y.data(), accuracy, device_result, stream);
    T result;
    detail::copy_to_host(device, &result, device_result, sizeof result, stream);
    workspaces().give_back(std::move(workspace));
    return result;
}

template float reduce(Reduction, std::span<const float>, std::span<const float>, Accuracy, int);
template double reduce(Reduction, std::span<const double>, std::span<const double>, Accuracy, int);

}  // namespace solver::cuda
