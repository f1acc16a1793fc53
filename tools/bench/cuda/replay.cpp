#include "replay.hpp"

#include "check.hpp"

#include <algorithm>

namespace solver::bench::on_cuda {
namespace {

constexpr double least_seconds = 1e-3;  // of a turn: far above the events' resolution of half a microsecond
constexpr double most_calls = 64;

}  // namespace

OwnStream::OwnStream(int device) {
    BENCH_CHECK(cudaSetDevice(device));
    BENCH_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

OwnStream::~OwnStream() { cudaStreamDestroy(stream_); }

Stopwatch::Stopwatch(cuda::Stream stream) : stream_(stream) {
    BENCH_CHECK(cudaEventCreate(&begin_));
    BENCH_CHECK(cudaEventCreate(&end_));
}

Stopwatch::~Stopwatch() {
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
}

double Stopwatch::seconds_of(const std::function<void()>& work) const {
    BENCH_CHECK(cudaEventRecord(begin_, stream_));
    work();
    BENCH_CHECK(cudaEventRecord(end_, stream_));
    BENCH_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    BENCH_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
}

Replay::Replay(cuda::Stream stream, std::function<void()> call) : stream_(stream), stopwatch_(stream), call_(std::move(call)) {}

Replay::~Replay() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

void Replay::make_graph() {
    call_();  // what libraries load or allocate at a first call cannot be captured
    const double once = std::min(stopwatch_.seconds_of(call_), stopwatch_.seconds_of(call_));
    calls_ = static_cast<int>(std::clamp(least_seconds / once, 1.0, most_calls));
    cudaGraph_t graph{};
    BENCH_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls_; ++i) call_();
    BENCH_CHECK(cudaStreamEndCapture(stream_, &graph));
    BENCH_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
    BENCH_CHECK(cudaGraphDestroy(graph));
}

double Replay::turn() {
    if (graph_ == nullptr) make_graph();
    BENCH_CHECK(cudaGraphLaunch(graph_, stream_));
    return stopwatch_.seconds_of([this] { BENCH_CHECK(cudaGraphLaunch(graph_, stream_)); }) / calls_;
}

}  // namespace solver::bench::on_cuda
