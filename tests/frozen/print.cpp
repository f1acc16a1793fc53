/// print-fingerprints [THREADS [ACCURACY]]: prints what fingerprints.txt should be; another accuracy than exact to compare
/// runs.

#include "frozen/fingerprints.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
    try {
        const auto device = solver::Device::cpu(argc > 1 ? std::atoi(argv[1]) : 1);
        const auto accuracy = argc > 2 ? solver::accuracy_from_text(argv[2]) : solver::Accuracy::exact;
        std::puts("// Name and hash of the bits that exact gives; see docs/reproducibility.md before you change a line.");
        for (const auto& [name, hash] : solver::frozen::fingerprints(device, accuracy))
            std::printf("{\"%s\", 0x%016" PRIx64 "},\n", name.c_str(), hash);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "print-fingerprints: %s\n", error.what());
        return 1;
    }
    return 0;
}
