#pragma once

/// Numbers of rows or columns that ranks share out, and those of others that a rank looks at.

#include "place.hpp"
#include "ranks/ranks.hpp"

#include <petscsf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace petscsolver {

/// The numbers 0, 1, 2, ... in one range for each rank, in the order of the ranks.
class Layout {
public:
    Layout() = default;
    Layout(const Ranks& ranks, std::int64_t own);

    std::int64_t begin() const { return begin_of(rank_); }
    std::int64_t end() const { return begin_of(rank_ + 1); }
    std::int64_t own() const { return end() - begin(); }
    std::int64_t all() const { return first_.back(); }
    bool operator==(const Layout&) const = default;
    bool owns(std::int64_t i) const { return i >= begin() && i < end(); }
    int owner(std::int64_t i) const;

    /// Where each number stands for so many that follow one another.
    Layout times(int each) const;
    /// Where so many that follow one another, which lie on one rank, become one.
    Layout divided(int each) const;
    /// Every range begins with a multiple of `each`, the next lower one.
    Layout aligned(int each) const;

private:
    std::int64_t begin_of(int rank) const { return first_[static_cast<std::size_t>(rank)]; }

    int rank_ = 0;
    std::vector<std::int64_t> first_{0, 0};  ///< of each rank, and how many there are in all
};

/// This rank's numbers and some of others, counted anew as they rise: what was sorted stays sorted. Vectors that have an
/// element for each of them get those of others by `fill`.
class Halo {
public:
    /// `others` rise and are none of this rank's.
    Halo(const Ranks& ranks, Layout layout, std::vector<std::int32_t> others);
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;
    ~Halo() { PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_)); }

    const Layout& layout() const { return layout_; }
    const std::vector<std::int32_t>& others() const { return others_; }

    std::int64_t size() const { return layout_.own() + std::ssize(others_); }
    std::int64_t first_own() const { return first_own_; }
    std::int64_t own() const { return layout_.own(); }

    /// Of all ranks' numbers.
    std::int32_t global(std::int64_t i) const {
        if (i < first_own_) return others_[i];
        if (i < first_own_ + own()) return static_cast<std::int32_t>(layout_.begin() + (i - first_own_));
        return others_[i - own()];
    }
    std::int32_t local(std::int32_t global) const {
        if (layout_.owns(global)) return static_cast<std::int32_t>(first_own_ + (global - layout_.begin()));
        const std::int64_t k = std::lower_bound(others_.begin(), others_.end(), global) - others_.begin();
        return static_cast<std::int32_t>(k < first_own_ ? k : k + own());
    }
    std::vector<std::int32_t> globals() const;

    /// This rank's elements.
    template <class Vector>
    auto own_part(Vector& x) const {
        return std::span(x).subspan(static_cast<std::size_t>(first_own_), static_cast<std::size_t>(layout_.own()));
    }

    /// Sets the others' elements to what their owners have. Collective.
    template <class T>
    void fill(std::vector<T>& x, int for_each = 1) const {
        const Unit unit(sizeof(T) * static_cast<std::size_t>(for_each));
        begin_to_fill({}, x.data(), unit);
        end_filling(x.data(), unit);
    }
    /// Of a vector at a place, which need not be the same on all ranks; on a device on PETSc's stream.
    template <class T>
    void fill(const Place& place, HaloArray<T>& x) const {
        begin_to_fill(place, x);
        end_filling(x);
    }
    /// This rank's elements may be read and the others' not be touched until end_filling.
    template <class T>
    void begin_to_fill(const Place& place, HaloArray<T>& x) const {
        static_assert(sizeof(T) <= 8, "a datatype that MPI has outlives the call");
        begin_to_fill(place, x.data(), Unit(sizeof(T)));
    }
    template <class T>
    void end_filling(HaloArray<T>& x) const {
        end_filling(x.data(), Unit(sizeof(T)));
    }

private:
    /// A datatype of so many bytes: bits are copied, whatever they stand for.
    class Unit {
    public:
        explicit Unit(std::size_t bytes) : bytes_(bytes), is_made_(bytes > 8) {
            if (is_made_) check_mpi(MPI_Type_contiguous(static_cast<int>(bytes / 4), MPI_INT, &type_));
            if (is_made_) check_mpi(MPI_Type_commit(&type_));
            if (!is_made_) type_ = bytes == 4 ? MPI_INT : MPI_DOUBLE;
        }
        Unit(const Unit&) = delete;
        Unit& operator=(const Unit&) = delete;
        ~Unit() {
            if (is_made_) check_mpi(MPI_Type_free(&type_));
        }
        std::size_t bytes() const { return bytes_; }
        operator MPI_Datatype() const { return type_; }

    private:
        std::size_t bytes_;
        bool is_made_;
        MPI_Datatype type_;
    };

    void begin_to_fill(const Place& place, void* x, const Unit& unit) const;
    void end_filling(void* x, const Unit& unit) const;
    const void* own_elements(const void* x, const Unit& unit) const {
        return static_cast<const std::byte*>(x) + static_cast<std::size_t>(first_own_) * unit.bytes();
    }
    void create_forest() const;

    MPI_Comm comm_;
    Layout layout_;
    std::vector<std::int32_t> others_;
    std::int64_t first_own_;
    mutable PetscSF forest_ = nullptr;  ///< made when it is first needed
};

}  // namespace petscsolver
