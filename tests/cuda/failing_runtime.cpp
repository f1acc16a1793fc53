#include "cuda/failing_runtime.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <utility>

namespace solver::faults {
namespace {

std::atomic<Request> refused_kind{Request::memory};
std::atomic<std::int64_t> made{0}, refused{0}, held{0};

/// What cudaGetLastError gives, which is a thread's own.
thread_local cudaError_t last = cudaSuccess;

/// Calls, unless this request is the one. `pieces`: what there is more of afterwards.
template <class Call>
cudaError_t ask(Request kind, std::int64_t pieces, const Call& call) {
    if (kind == refused_kind && ++made == refused) return last = cudaErrorMemoryAllocation;
    const cudaError_t status = call();
    if (status == cudaSuccess) held += pieces;
    return status;
}

template <class Call>
cudaError_t give_back(const void* what, const Call& call) {
    if (what != nullptr) --held;
    return call();
}

}  // namespace

void refuse_request(Request kind, std::int64_t n) {
    refused_kind = kind;
    made = 0;
    refused = n;
}

std::int64_t requests() { return made; }

std::int64_t pieces_held() { return held; }

std::string last_error() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? "" : cudaGetErrorName(error);
}

}  // namespace solver::faults

using solver::faults::ask;
using solver::faults::give_back;
using enum solver::faults::Request;

// The names are the linker's.
#define SOLVER_ASKS(kind, pieces, name, parameters, arguments)             \
    cudaError_t __real_##name parameters;                                  \
    cudaError_t __wrap_##name parameters {                                 \
        return ask(kind, pieces, [&] { return __real_##name arguments; }); \
    }
#define SOLVER_GIVES_BACK(name, type)                                \
    cudaError_t __real_##name(type what);                            \
    cudaError_t __wrap_##name(type what) {                           \
        return give_back(what, [&] { return __real_##name(what); }); \
    }

extern "C" {

SOLVER_ASKS(memory, 1, cudaMalloc, (void** place, std::size_t bytes), (place, bytes))
SOLVER_ASKS(memory, 1, cudaMallocFromPoolAsync, (void** place, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
            (place, bytes, pool, stream))
SOLVER_ASKS(memory, 1, cudaMallocHost, (void** place, std::size_t bytes), (place, bytes))
SOLVER_ASKS(memory, 1, cudaHostAlloc, (void** place, std::size_t bytes, unsigned flags), (place, bytes, flags))
SOLVER_GIVES_BACK(cudaFree, void*)
cudaError_t __real_cudaFreeAsync(void* what, cudaStream_t stream);
cudaError_t __wrap_cudaFreeAsync(void* what, cudaStream_t stream) {
    return give_back(what, [&] { return __real_cudaFreeAsync(what, stream); });
}
SOLVER_GIVES_BACK(cudaFreeHost, void*)

SOLVER_ASKS(work, 1, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
SOLVER_ASKS(work, 1, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
SOLVER_ASKS(work, 1, cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), (graph, flags))
SOLVER_ASKS(work, 1, cudaGraphInstantiate, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
            (executable, graph, flags))
SOLVER_GIVES_BACK(cudaStreamDestroy, cudaStream_t)
SOLVER_GIVES_BACK(cudaEventDestroy, cudaEvent_t)
SOLVER_GIVES_BACK(cudaGraphDestroy, cudaGraph_t)
SOLVER_GIVES_BACK(cudaGraphExecDestroy, cudaGraphExec_t)

SOLVER_ASKS(work, 0, cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream))
SOLVER_ASKS(work, 0, cudaMemsetAsync, (void* memory, int value, std::size_t bytes, cudaStream_t stream),
            (memory, value, bytes, stream))
SOLVER_ASKS(work, 0, cudaMemcpyAsync,
            (void* to, const void* from, std::size_t bytes, cudaMemcpyKind direction, cudaStream_t stream),
            (to, from, bytes, direction, stream))
SOLVER_ASKS(work, 0, cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),
            (config, kernel, arguments))
// what <<<>>> becomes
SOLVER_ASKS(work, 0, __cudaLaunchKernel,
            (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
            (kernel, grid, block, arguments, shared, stream))

cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError() {
    const cudaError_t real = __real_cudaGetLastError();
    const cudaError_t made_up = std::exchange(solver::faults::last, cudaSuccess);
    return made_up != cudaSuccess ? made_up : real;
}

cudaError_t __real_cudaPeekAtLastError();
cudaError_t __wrap_cudaPeekAtLastError() {
    return solver::faults::last != cudaSuccess ? solver::faults::last : __real_cudaPeekAtLastError();
}
}
