// A dot product over all processes of MPI, rounded once: the same bits on any number of them.
#include <solver/partial.hpp>

#include <mpi.h>

#include <cstdio>
#include <vector>

using Partial = solver::PartialSum<double>;

void merge(void* in, void* in_out, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<Partial*>(in_out)[i].merge(static_cast<Partial*>(in)[i]);
}

double dot(std::span<const double> x, std::span<const double> y, MPI_Datatype type, MPI_Op op) {
    Partial part = solver::partial_dot(x, y);
    MPI_Allreduce(MPI_IN_PLACE, &part, 1, type, op, MPI_COMM_WORLD);
    double result = 0;
    if (part.try_result(result)) return result;
    solver::SumDigits digits = solver::dot_digits(x, y);  // once in thousands of sums
    MPI_Allreduce(MPI_IN_PLACE, digits.word.data(), solver::SumDigits::size, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return digits.result<double>();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(sizeof(Partial), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge, 1, &op);

    std::vector<double> x, y;
    for (long i = rank * 100000L / ranks; i < (rank + 1) * 100000L / ranks; ++i) {  // this process's part of 100000 elements
        x.push_back(1.0 / static_cast<double>(1 + i));
        y.push_back(i % 2 == 0 ? 1.0 : -1.0);
    }
    const double alternating = dot(x, y, type, op);
    const double zero = dot(x, std::vector<double>(x.size()), type, op);
    if (rank == 0) std::printf("%a %a\n", alternating, zero);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
}
