#include "frozen/fingerprints.hpp"

namespace solver::frozen {

std::vector<Fingerprint> fingerprints(const Device& device, Accuracy accuracy) {
    Record record(accuracy);
    record_reductions(record, device);
    record_products(record, device);
    record_dense_products(record, device);
    record_triangular_solves(record, device);
    record_solves(record, device);
    record_complex(record, device);
    record_rounded_solutions(record, device);
    if (device.kind() == Device::Kind::cpu) record_inputs(record);
    return record.fingerprints();
}

std::span<const Fingerprint> frozen_fingerprints() {
    static const Fingerprint frozen[] = {
#include "frozen/fingerprints.txt"
    };
    return frozen;
}

}  // namespace solver::frozen
