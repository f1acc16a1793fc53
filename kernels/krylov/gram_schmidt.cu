#include "gram_schmidt.hpp"

#include "runtime/check.cuh"
#include "runtime/pinned.cuh"
#include "vectors.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace solver::cuda {
namespace {

constexpr const char* purpose = "the numbers of a pass of Gram-Schmidt";

/// What has been put on a stream before it is recorded.
class Event {
public:
    explicit Event(int device) : device_(device) {
        const CurrentDevice current(device_);
        check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags", purpose);
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }

    void record(Stream stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord", purpose); }
    void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize", purpose); }

private:
    int device_;
    cudaEvent_t event_ = nullptr;
};

}  // namespace

template <class T>
struct GramSchmidtPass<T>::Memory {
    int device;
    Event done;
    DeviceArray<T> numbers;  ///< as subtract_projections leaves them
    std::optional<Pinned<T>> on_host;

    explicit Memory(int on_device) : device(on_device), done(on_device) {}

    void reserve(std::int64_t count) {
        constexpr std::int64_t often_enough = 32;
        if (numbers.size() >= count) return;
        const std::int64_t room = std::max(often_enough, 2 * count);
        numbers = DeviceArray<T>(device, room, purpose);
        on_host.emplace(purpose, static_cast<int>(room));
    }
};

template <class T>
GramSchmidtPass<T>::GramSchmidtPass(int device) : memory_(std::make_unique<Memory>(device)) {}
template <class T>
GramSchmidtPass<T>::GramSchmidtPass(GramSchmidtPass&&) noexcept = default;
template <class T>
GramSchmidtPass<T>::~GramSchmidtPass() = default;

template <class T>
void GramSchmidtPass<T>::start(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& w, const DeviceArray<T>& v,
                               Accuracy accuracy, Stream stream) {
    Memory& m = *memory_;
    const std::int64_t count = std::ssize(x) + 2;
    const CurrentDevice current(m.device);
    m.reserve(count);
    subtract_projections(reducer, x, w, accuracy, m.numbers.data(), stream);
    normalise<T>(w, {m.numbers.data(), static_cast<std::size_t>(count)}, m.on_host->get(), v, stream);
    m.done.record(stream);
}

template <class T>
NormsOfPass GramSchmidtPass<T>::take(std::span<double> h) const {
    memory_->done.wait();
    const T* const numbers = memory_->on_host->get();
    std::copy_n(numbers + 1, h.size(), h.begin());
    return {numbers[h.size() + 1], numbers[0]};
}

template class GramSchmidtPass<float>;
template class GramSchmidtPass<double>;

}  // namespace solver::cuda
