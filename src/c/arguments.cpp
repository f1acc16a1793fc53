#include "c/arguments.hpp"

#include "c/status.hpp"

namespace solver::c {
namespace {

thread_local std::int32_t threads_asked_for = 0;

}  // namespace

Device processor() { return Device::cpu(threads_asked_for); }

Device device_of(std::int32_t device, const char* function) {
    if (device >= 0) return Device::cuda(device);
    if (device == SOLVER_PROCESSOR) return processor();
    require(device == SOLVER_BEST_DEVICE, function,
            "the device is below -2; expected SOLVER_PROCESSOR (-1), SOLVER_BEST_DEVICE (-2) or a CUDA device from 0 on");
    return Device::best().kind() == Device::Kind::cuda ? Device::best() : processor();
}

}  // namespace solver::c

solver_status solver_set_threads(int32_t threads) {
    return solver::c::guarded([&] {
        static_cast<void>(solver::Device::cpu(threads));  // refuses what is not possible
        solver::c::threads_asked_for = threads;
    });
}

int32_t solver_threads(void) { return solver::c::processor().threads(); }
