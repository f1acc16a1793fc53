#include "c/status.hpp"

#include "solver/cuda/runtime.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string_view>

static_assert(SOLVER_VERSION == SOLVER_PROJECT_VERSION, "solver.h is of another version than the project");

namespace solver::c {
namespace {

/// Without a destructor, which could not be registered where there is no memory.
constinit thread_local std::array<char, 2048> last_error{};

constexpr const char* not_enough_memory = "there is not enough memory for what was asked for";

/// What is longer than the room for it is cut.
solver_status failed(solver_status status, std::string_view words) noexcept {
    const std::size_t length = words.copy(last_error.data(), last_error.size() - 1);
    last_error[length] = '\0';
    return status;
}

}  // namespace

solver_status status_of_exception() noexcept {
    try {
        throw;
    } catch (const CallbackFailed& error) {
        return failed(SOLVER_CALLBACK_FAILED, error.what());
    } catch (const DimensionMismatch& error) {
        return failed(SOLVER_DIMENSION_MISMATCH, error.what());
    } catch (const ResourceLimit& error) {
        return failed(SOLVER_RESOURCE_LIMIT, error.what());
    } catch (const InvalidArgument& error) {
        return failed(SOLVER_INVALID_ARGUMENT, error.what());
    } catch (const NotSupported& error) {
        return failed(SOLVER_NOT_SUPPORTED, error.what());
    } catch (const FileError& error) {
        return failed(SOLVER_FILE_ERROR, error.what());
    } catch (const std::bad_alloc&) {
        return failed(SOLVER_RESOURCE_LIMIT, not_enough_memory);
    } catch (const std::length_error&) {  // of a container that was asked for more than any memory holds
        return failed(SOLVER_RESOURCE_LIMIT, not_enough_memory);
    } catch (const std::exception& error) {
        return failed(SOLVER_INTERNAL_ERROR, error.what());
    } catch (...) {
        return failed(SOLVER_INTERNAL_ERROR, "an exception without words");
    }
}

}  // namespace solver::c

uint32_t solver_version(void) { return SOLVER_VERSION; }

const char* solver_build_info(void) {
    static const std::string info = [] {
        std::string text =
            fmt::format("solver {}.{}.{}", SOLVER_VERSION / 10000, SOLVER_VERSION / 100 % 100, SOLVER_VERSION % 100);
        try {
            text += "; CUDA: " + solver::describe_cuda();
        } catch (const std::exception& error) {
            text += std::string("; CUDA: ") + error.what();
        }
        return text;
    }();
    return info.c_str();
}

const char* solver_last_error(void) { return solver::c::last_error.data(); }

const char* solver_status_name(solver_status status) {
    switch (status) {
        case SOLVER_OK:
            return "ok";
        case SOLVER_INVALID_ARGUMENT:
            return "invalid argument";
        case SOLVER_DIMENSION_MISMATCH:
            return "dimension mismatch";
        case SOLVER_RESOURCE_LIMIT:
            return "resource limit";
        case SOLVER_NOT_SUPPORTED:
            return "not supported";
        case SOLVER_FILE_ERROR:
            return "file error";
        case SOLVER_CALLBACK_FAILED:
            return "callback failed";
        case SOLVER_INTERNAL_ERROR:
            return "internal error";
        default:
            return "unknown status";
    }
}

solver_status solver_device_count(int32_t* count) {
    return solver::c::guarded([&] {
        if (count == nullptr) throw solver::InvalidArgument("solver_device_count: count is NULL");
        *count = solver::cuda::device_count();
    });
}
