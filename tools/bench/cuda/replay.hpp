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
    double seconds_of(const std::function<void()>& work);
    void make_graph();

    cuda::Stream stream_;
    std::function<void()> call_;
    int calls_ = 0;
    cudaEvent_t begin_{}, end_{};
    cudaGraphExec_t graph_{};
};

}  // namespace solver::bench::on_cuda
