#include "runtime/staged_copy.hpp"

#include "core/thread_pool.hpp"
#include "runtime/check.cuh"
#include "solver/device.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace solver::cuda {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 19;  // to lock much more takes longer than most copies
constexpr std::int64_t worth_staging = 16 * piece;
constexpr int most_lanes = 8;

/// What one thread copies with: two pieces of pinned memory and a stream.
class Lane {
public:
    explicit Lane(char* pinned) : Lane() {  // so that an exception destroys what there is
        pinned_[0] = pinned;
        pinned_[1] = pinned + piece;
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", "a staged copy");
        for (cudaEvent_t& done : done_)
            check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cudaEventCreateWithFlags", "a staged copy");
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() {
        if (stream_ == nullptr) return;
        cudaStreamSynchronize(stream_);  // the next lane uses the same pieces, even after an exception
        for (cudaEvent_t done : done_)
            if (done != nullptr) cudaEventDestroy(done);
        cudaStreamDestroy(stream_);
    }

    void to_device(char* to, const char* from, std::int64_t bytes) {
        for (std::int64_t k = 0, at = 0; at < bytes; ++k, at += piece) {
            const auto size = static_cast<std::size_t>(std::min(piece, bytes - at));
            wait_for(k);
            std::memcpy(pinned_[k % 2], from + at, size);
            start(k, to + at, pinned_[k % 2], size, cudaMemcpyHostToDevice);
        }
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", "a staged copy");
    }

    void to_host(char* to, const char* from, std::int64_t bytes) {
        const std::int64_t pieces = (bytes + piece - 1) / piece;
        const auto size = [&](std::int64_t k) { return static_cast<std::size_t>(std::min(piece, bytes - k * piece)); };
        for (std::int64_t k = 0; k <= pieces; ++k) {
            if (k < pieces) start(k, pinned_[k % 2], from + k * piece, size(k), cudaMemcpyDeviceToHost);
            if (k == 0) continue;
            wait_for(k - 1);
            std::memcpy(to + (k - 1) * piece, pinned_[(k - 1) % 2], size(k - 1));
        }
    }

private:
    Lane() = default;

    void start(std::int64_t k, void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, size, kind, stream_), "cudaMemcpyAsync", "a staged copy");
        check(cudaEventRecord(done_[k % 2], stream_), "cudaEventRecord", "a staged copy");
    }

    /// For the last copy from or to the piece that k uses; at once where there was none.
    void wait_for(std::int64_t k) { check(cudaEventSynchronize(done_[k % 2]), "cudaEventSynchronize", "a staged copy"); }

    char* pinned_[2] = {};
    cudaStream_t stream_ = nullptr;
    cudaEvent_t done_[2] = {};
};

/// Of the process. Never given back, for static objects may outlive the driver.
struct PinnedPieces {
    std::mutex mutex;
    char* memory = nullptr;

    bool reserve() {
        constexpr auto bytes = static_cast<std::size_t>(2 * most_lanes * piece);
        if (memory == nullptr &&
            cudaHostAlloc(reinterpret_cast<void**>(&memory), bytes, cudaHostAllocPortable) != cudaSuccess) {
            cudaGetLastError();
            memory = nullptr;
        }
        return memory != nullptr;
    }
};

PinnedPieces& pinned_pieces() {
    static auto* const pieces = new PinnedPieces;
    return *pieces;
}

bool is_pinned(const void* memory) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) return attributes.type != cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return true;
}

}  // namespace

bool copy_staged(int device, void* to, const void* from, std::int64_t bytes, Direction direction, Stream stream) {
    if (bytes < worth_staging || is_pinned(direction == Direction::to_device ? from : to)) return false;
    const int lanes = std::min(most_lanes, Device::cpu().threads());
    PinnedPieces& pieces = pinned_pieces();
    const std::unique_lock lock(pieces.mutex, std::try_to_lock);
    if (lanes == 1 || !lock || !pieces.reserve()) return false;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "a staged copy");
    cpu::parallel_for(lanes, [&](int lane) {
        const CurrentDevice current(device);
        Lane mine(pieces.memory + 2 * lane * piece);
        const std::int64_t begin = cpu::share_begin(bytes, lane, lanes);
        const std::int64_t size = cpu::share_begin(bytes, lane + 1, lanes) - begin;
        if (direction == Direction::to_device)
            mine.to_device(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, size);
        else
            mine.to_host(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, size);
    });
    return true;
}

}  // namespace solver::cuda
