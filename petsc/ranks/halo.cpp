#include "ranks/halo.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

namespace petscsolver {

Layout::Layout(const Ranks& ranks, std::int64_t own) : rank_(ranks.rank()) {
    const std::vector<std::int64_t> sizes = ranks.gathered(std::span<const std::int64_t>(&own, 1));
    first_.assign(sizes.size() + 1, 0);
    std::inclusive_scan(sizes.begin(), sizes.end(), first_.begin() + 1);
}

int Layout::owner(std::int64_t i) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), i) - first_.begin()) - 1;
}

Layout Layout::times(int each) const {
    Layout result = *this;
    for (std::int64_t& first : result.first_) first *= each;
    return result;
}

Layout Layout::divided(int each) const {
    Layout result = *this;
    for (std::int64_t& first : result.first_) first /= each;
    return result;
}

Layout Layout::aligned(int each) const { return divided(each).times(each); }

Halo::Halo(const Ranks& ranks, Layout layout, std::vector<std::int32_t> others)
    : comm_(ranks.comm()),
      layout_(std::move(layout)),
      others_(std::move(others)),
      first_own_(std::lower_bound(others_.begin(), others_.end(), layout_.begin()) - others_.begin()) {}

std::vector<std::int32_t> Halo::globals() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(size()));
    for (std::int64_t i = 0; i < size(); ++i) all[i] = global(i);
    return all;
}

/// The others' elements are the leaves of their owners' roots.
void Halo::create_forest() const {
    PetscLayout owners;
    std::vector<PetscInt> places, numbers(others_.begin(), others_.end());
    for (const std::int32_t other : others_) places.push_back(local(other));
    PetscCallAbort(comm_, PetscLayoutCreateFromSizes(comm_, static_cast<PetscInt>(own()), PETSC_DECIDE, 1, &owners));
    PetscCallAbort(comm_, PetscSFCreate(comm_, &forest_));
    PetscCallAbort(comm_, PetscSFSetGraphLayout(forest_, owners, static_cast<PetscInt>(places.size()), places.data(),
                                                PETSC_COPY_VALUES, numbers.data()));
    PetscCallAbort(comm_, PetscSFSetUp(forest_));
    PetscCallAbort(comm_, PetscLayoutDestroy(&owners));
}

void Halo::begin_to_fill(const Place& place, void* x, const Unit& unit) const {
    if (forest_ == nullptr) create_forest();
    const PetscMemType memory = place.on_device() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
    PetscCallAbort(comm_, PetscSFBcastWithMemTypeBegin(forest_, unit, memory, own_elements(x, unit), memory, x, MPI_REPLACE));
}

void Halo::end_filling(void* x, const Unit& unit) const {
    PetscCallAbort(comm_, PetscSFBcastEnd(forest_, unit, own_elements(x, unit), x, MPI_REPLACE));
}

}  // namespace petscsolver
