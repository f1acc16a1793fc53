#pragma once

/// Time by the device's clock.

#include "solver/cuda.hpp"

#include <cuda_runtime.h>

#include <functional>

namespace solver::bench::on_cuda {

/// A stream of its own, which does not wait for the default stream.
class OwnStream {
public:
    explicit OwnStream(int device);
    ~OwnStream();
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    operator cuda::Stream() const { return stream_; }

private:
    cuda::Stream stream_{};
};

/// Seconds that `work` takes, between events on the stream, what it waits for included.
class Stopwatch {
public:
    explicit Stopwatch(cuda::Stream stream);
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    double seconds_of(const std::function<void()>& work) const;

private:
    cuda::Stream stream_;
    cudaEvent_t begin_{}, end_{};
};

/// What `call` puts on the stream, several times over in a CUDA graph, so that the time the host needs to launch it does not
/// count. The graph is made at the first turn.
class Replay {
public:
    Replay(cuda::Stream stream, std::function<void()> call);
    ~Replay();
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    /// Seconds a call, by events around a launch of the graph that follows another one.
    double turn();

private:
    void make_graph();

    cuda::Stream stream_;
    Stopwatch stopwatch_;
    std::function<void()> call_;
    int calls_ = 0;
    cudaGraphExec_t graph_{};
};

}  // namespace solver::bench::on_cuda
