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

namespace {

/// A datatype of so many bytes: bits are copied, whatever they stand for.
class Unit {
public:
    explicit Unit(int bytes) : is_made_(bytes > 8) {
        if (is_made_) check_mpi(MPI_Type_contiguous(bytes / 4, MPI_INT, &type_));
        if (is_made_) check_mpi(MPI_Type_commit(&type_));
        if (!is_made_) type_ = bytes == 4 ? MPI_INT : MPI_DOUBLE;
    }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;
    ~Unit() {
        if (is_made_) check_mpi(MPI_Type_free(&type_));
    }
    operator MPI_Datatype() const { return type_; }

private:
    bool is_made_;
    MPI_Datatype type_;
};

}  // namespace

void Halo::fill(const Place& place, void* x, std::size_t element_bytes, int for_each) const {
    if (forest_ == nullptr) create_forest();
    const Unit unit(static_cast<int>(element_bytes) * for_each);
    const auto* const roots =
        static_cast<const std::byte*>(x) + static_cast<std::size_t>(first_own_ * for_each) * element_bytes;
    const PetscMemType memory = place.on_device() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
    PetscCallAbort(comm_, PetscSFBcastWithMemTypeBegin(forest_, unit, memory, roots, memory, x, MPI_REPLACE));
    PetscCallAbort(comm_, PetscSFBcastEnd(forest_, unit, roots, x, MPI_REPLACE));
}

}  // namespace petscsolver
