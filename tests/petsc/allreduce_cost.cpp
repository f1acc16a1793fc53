// What the plugin's reductions cost beside MPI's own: microseconds of an allreduce of one value and of 30, as doubles that are
// summed and as partial sums that are merged. The median of a few hundred blocks.
//   mpirun -n 4 allreduce_cost
#include "solver/partial.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

using Partial = solver::PartialSum<double>;

void merge(void* in, void* in_out, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<Partial*>(in_out)[i].merge(static_cast<const Partial*>(in)[i]);
}

template <class Reduce>
double microseconds(const Reduce& reduce) {
    constexpr int blocks = 300;
    constexpr int reductions = 30;
    std::vector<double> times;
    for (int block = 0; block < blocks; ++block) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int k = 0; k < reductions; ++k) reduce();
        times.push_back((MPI_Wtime() - start) * 1e6 / reductions);
    }
    std::nth_element(times.begin(), times.begin() + blocks / 2, times.end());
    return times[blocks / 2];
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Datatype type;
    MPI_Op operation;
    MPI_Type_contiguous(sizeof(Partial), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge, 1, &operation);
    const std::vector<double> third{1.0 / 3};
    for (const int count : {1, 30}) {
        const auto size = static_cast<std::size_t>(count);
        const std::vector<double> doubles(size, 1.0 / 3);
        std::vector<double> sums(size);
        const std::vector<Partial> partials(size, solver::partial_dot(third, third));
        std::vector<Partial> merged(size);
        const double plain =
            microseconds([&] { MPI_Allreduce(doubles.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
        const double exact =
            microseconds([&] { MPI_Allreduce(partials.data(), merged.data(), count, type, operation, MPI_COMM_WORLD); });
        if (rank == 0)
            std::printf("%d ranks, %d values: doubles %.3f us, partial sums %.3f us, ratio %.2f\n", ranks, count, plain, exact,
                        exact / plain);
    }
    MPI_Op_free(&operation);
    MPI_Type_free(&type);
    MPI_Finalize();
}
