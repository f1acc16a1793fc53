#pragma once

/// The ranks of a communicator, and what they tell one another while levels are made. Everything is collective. MPI cannot fail
/// but by a broken machine, which ends the program.

#include <petscsys.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace petscsolver {

inline void check_mpi(int error) { PetscCallAbort(PETSC_COMM_SELF, error == MPI_SUCCESS ? 0 : PETSC_ERR_MPI); }

/// The datatype of T while the object lives.
template <class T>
class TypeOfMpi {
public:
    TypeOfMpi() {
        check_mpi(MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type_));
        check_mpi(MPI_Type_commit(&type_));
    }
    TypeOfMpi(const TypeOfMpi&) = delete;
    TypeOfMpi& operator=(const TypeOfMpi&) = delete;
    ~TypeOfMpi() { check_mpi(MPI_Type_free(&type_)); }
    operator MPI_Datatype() const { return type_; }

private:
    MPI_Datatype type_;
};

/// Those that MPI can compare and add.
inline MPI_Datatype mpi_type(double) { return MPI_DOUBLE; }
inline MPI_Datatype mpi_type(std::int64_t) { return MPI_INT64_T; }
inline MPI_Datatype mpi_type(std::uint64_t) { return MPI_UINT64_T; }

class Ranks {
public:
    /// The communicator must outlive it.
    explicit Ranks(MPI_Comm comm) : comm_(comm) {
        check_mpi(MPI_Comm_rank(comm, &rank_));
        check_mpi(MPI_Comm_size(comm, &size_));
    }

    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    int size() const { return size_; }

    template <class T>
    T sum(T mine) const {
        return reduced(mine, MPI_SUM);
    }
    template <class T>
    T largest(T mine) const {
        return reduced(mine, MPI_MAX);
    }
    template <class T>
    T least(T mine) const {
        return reduced(mine, MPI_MIN);
    }
    bool all(bool mine) const { return least(std::int64_t{mine}) != 0; }

    /// What all ranks have, one after another.
    template <class T>
    std::vector<T> gathered(std::span<const T> mine) const {
        const auto count = static_cast<int>(mine.size());
        std::vector<int> counts(static_cast<std::size_t>(size_));
        check_mpi(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_));
        const std::vector<int> offsets = offsets_of(counts);
        std::vector<T> all(static_cast<std::size_t>(offsets.back()));
        const TypeOfMpi<T> type;
        check_mpi(MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), offsets.data(), type, comm_));
        return all;
    }

    /// to[r] goes to rank r; what came from rank r is the result's [r].
    template <class T>
    std::vector<std::vector<T>> exchanged(const std::vector<std::vector<T>>& to) const {
        std::vector<int> sent, received(to.size());
        std::vector<T> out;
        for (const std::vector<T>& part : to) {
            sent.push_back(static_cast<int>(part.size()));
            out.insert(out.end(), part.begin(), part.end());
        }
        check_mpi(MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm_));
        const std::vector<int> sent_offsets = offsets_of(sent), offsets = offsets_of(received);
        std::vector<T> in(static_cast<std::size_t>(offsets.back()));
        const TypeOfMpi<T> type;
        check_mpi(MPI_Alltoallv(out.data(), sent.data(), sent_offsets.data(), type, in.data(), received.data(), offsets.data(),
                                type, comm_));
        std::vector<std::vector<T>> from;
        for (std::size_t r = 0; r < to.size(); ++r) from.emplace_back(in.begin() + offsets[r], in.begin() + offsets[r + 1]);
        return from;
    }

    /// One empty list for each rank.
    template <class T>
    std::vector<std::vector<T>> lists() const {
        return std::vector<std::vector<T>>(static_cast<std::size_t>(size_));
    }

private:
    template <class T>
    T reduced(T mine, MPI_Op operation) const {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, mpi_type(T()), operation, comm_));
        return mine;
    }

    /// MPI counts with 31 bits.
    static std::vector<int> offsets_of(const std::vector<int>& counts) {
        if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) > std::numeric_limits<int>::max())
            throw std::length_error(
                "a rank of petscsolver would send or receive 2^31 entries or more at once; use more ranks, or a preconditioner "
                "that does not take the whole matrix on every rank");
        std::vector<int> offsets(counts.size() + 1);
        std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
        return offsets;
    }

    MPI_Comm comm_;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace petscsolver
