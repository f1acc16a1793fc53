#pragma once

/// Loops of kernels that end without the host's help.

#include "runtime/check.cuh"

#include <cstdlib>
#include <string_view>

namespace solver::cuda {

/// A chain of kernels as the body of a loop that the device ends by itself.
class DeviceLoop {
public:
    /// Whether the driver knows conditional nodes of graphs, and nobody forbids graphs by SOLVER_CUDA_GRAPHS=0, as sanitizers,
    /// debuggers and profilers want it, which see little of what happens in a graph.
    static bool is_possible() {
        constexpr int oldest_driver = 12040;
        const char* const wanted = std::getenv("SOLVER_CUDA_GRAPHS");
        int driver = 0;
        check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
        return driver >= oldest_driver && !(wanted != nullptr && std::string_view(wanted) == "0");
    }

    /// `record(handle)` puts the body on the stream, some kernel of which sets the handle to 0 at the end.
    template <class Record>
    DeviceLoop(Stream stream, const Record& record) : DeviceLoop() {  // so that an exception destroys what there is
        check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate");
        cudaGraphConditionalHandle handle{};
        check(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault),
              "cudaGraphConditionalHandleCreate");
        cudaGraphNodeParams parameters{};
        parameters.type = cudaGraphNodeTypeConditional;
        parameters.conditional.handle = handle;
        parameters.conditional.type = cudaGraphCondTypeWhile;
        parameters.conditional.size = 1;
        cudaGraphNode_t node{};
        check(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters), "cudaGraphAddNode", "the loop of a solve");
        check(cudaStreamBeginCaptureToGraph(stream, parameters.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                            cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCaptureToGraph");
        try {
            record(handle);
        } catch (...) {
            cudaGraph_t ignored{};
            cudaStreamEndCapture(stream, &ignored);
            throw;
        }
        cudaGraph_t body{};
        check(cudaStreamEndCapture(stream, &body), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate", "the loop of a solve");
    }
    DeviceLoop(const DeviceLoop&) = delete;
    DeviceLoop& operator=(const DeviceLoop&) = delete;
    ~DeviceLoop() {
        if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
        if (graph_ != nullptr) cudaGraphDestroy(graph_);
    }

    void launch(Stream stream) const { check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch", "steps of a solve"); }

private:
    DeviceLoop() = default;

    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

}  // namespace solver::cuda
