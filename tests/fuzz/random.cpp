/// fuzz-random TARGET SECONDS SEED [CORPUS]: the targets without libFuzzer, for any compiler and at full speed: inputs drawn at
/// random, and inputs of the corpus changed at random places. What ends the process is left in ./crash-TARGET-SEED.

#include "matrices/random.hpp"
#include "fuzz/targets.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using solver::matrices::Random;
using Bytes = std::vector<std::uint8_t>;

/// What takes longer than this is taken for what never ends.
constexpr unsigned longest_seconds = 60;

Bytes current;
std::string crash_file;

void keep_input(int signal) {
    const int file = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && ::write(file, current.data(), current.size()) < 0) ::_exit(1);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

std::vector<Bytes> read_corpus(const std::filesystem::path& folder) {
    std::vector<Bytes> corpus;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

std::uint8_t some_byte(Random& random) { return static_cast<std::uint8_t>(random.below(random.coin() ? 256 : 16)); }

Bytes drawn(Random& random) {
    Bytes bytes(static_cast<std::size_t>(random.below(random.coin() ? 40 : 400)));
    for (std::uint8_t& byte : bytes) byte = some_byte(random);
    return bytes;
}

void change(Bytes& bytes, Random& random) {
    const auto place = bytes.begin() + random.below(static_cast<std::int64_t>(bytes.size()) + 1);
    switch (random.below(4)) {
        case 0:
            bytes.insert(place, some_byte(random));
            break;
        case 1:
            if (place != bytes.end()) bytes.erase(place);
            break;
        case 2:
            if (place != bytes.end()) *place = some_byte(random);
            break;
        default:
            if (place != bytes.end()) *place = static_cast<std::uint8_t>(*place ^ 1 << random.below(8));
    }
}

Bytes changed(const std::vector<Bytes>& corpus, Random& random) {
    Bytes bytes = corpus[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(corpus.size())))];
    for (std::int64_t left = 1 + random.below(8); left > 0; --left) change(bytes, random);
    return bytes;
}

std::int64_t run(void (*target)(solver::fuzz::Input), double seconds, Random random, const std::vector<Bytes>& corpus) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::int64_t count = 0;
    for (; std::chrono::steady_clock::now() < end; ++count) {
        current = corpus.empty() || random.below(3) == 0 ? drawn(random) : changed(corpus, random);
        ::alarm(longest_seconds);
        target(current);
    }
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: fuzz-random TARGET SECONDS SEED [CORPUS]\n");
        return 2;
    }
    crash_file = std::string("crash-") + argv[1] + "-" + argv[3];
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, keep_input);
    for (const auto& target : solver::fuzz::targets)
        if (std::string(argv[1]) == target.name) {
            const auto corpus = argc > 4 ? read_corpus(argv[4]) : std::vector<Bytes>();
            const std::int64_t count = run(target.run, std::atof(argv[2]), Random(std::strtoull(argv[3], nullptr, 10)), corpus);
            std::printf("%s: %lld executions\n", target.name, static_cast<long long>(count));
            return 0;
        }
    std::fprintf(stderr, "fuzz-random: there is no target '%s'\n", argv[1]);
    return 2;
}
