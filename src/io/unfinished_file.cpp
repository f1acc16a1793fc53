#include "io/unfinished_file.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>

namespace solver {
namespace {

enum class State { free, taken, written };

/// Of a fixed size, for a handler of signals.
struct Place {
    std::atomic<State> state = State::free;
    std::array<char, PATH_MAX> path{}, temporary{};
};
static_assert(std::atomic<State>::is_always_lock_free);

constinit std::array<Place, 16> places;

/// Whether it is short enough to be the name of a file.
bool copy(std::array<char, PATH_MAX>& to, const std::filesystem::path& from) {
    if (from.native().size() >= to.size()) return false;
    std::memcpy(to.data(), from.c_str(), from.native().size() + 1);
    return true;
}

}  // namespace

void UnfinishedFile::begin(const std::filesystem::path& path, const std::filesystem::path& temporary) noexcept {
    end();
    for (std::size_t i = 0; i < places.size(); ++i) {
        Place& place = places[i];
        State expected = State::free;
        if (!place.state.compare_exchange_strong(expected, State::taken)) continue;
        place_ = static_cast<int>(i);
        if (copy(place.path, path) && copy(place.temporary, temporary)) place.state = State::written;
        return;
    }
}

void UnfinishedFile::end() noexcept {
    if (place_ >= 0) places[place_].state = State::free;
    place_ = -1;
}

SignalsHeldBack::SignalsHeldBack() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeldBack::~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void abandon_unfinished_files(void (*tell)(const char* path, bool directly)) noexcept {
    for (const Place& place : places) {
        if (place.state != State::written) continue;
        const bool directly = place.temporary[0] == '\0';
        // Without a temporary file to remove, the file has just been finished.
        if (directly || ::unlink(place.temporary.data()) == 0) tell(place.path.data(), directly);
    }
}

}  // namespace solver
