#pragma once

/// The benchmarks of solver-bench. Each runs its contests through a report; they throw what reading a matrix throws.

#include "options.hpp"
#include "report.hpp"

namespace solver::bench {

/// The one that the options name, of those below that have contests.
void run_benchmark(const Options& options, Report& report);

void bench_spmv(const Options& options, Report& report);
void bench_reduce(const Options& options, Report& report);  ///< sum, dot and norm2
void bench_gemm(const Options& options, Report& report);
void bench_triangular(const Options& options, Report& report);
void bench_solve(const Options& options, Report& report);
void bench_read(const Options& options, Report& report);

/// The tables of Options::paper, as published and as measured.
void bench_badin2011(const Options& options);
void bench_badin2013(const Options& options);

/// Whether fast, compensated and exact are of grade A.
bool bench_grades(const Options& options);

/// Whether all results agreed.
bool bench_bits(const Options& options);

/// Whether no claim of convergence by the library was false.
bool bench_robustness(const Options& options);

/// Whether no claim of convergence by the library was false.
bool bench_scaling(const Options& options);

/// The peers of scaling on the processor that are there, with their versions.
std::string peers_of_scaling();

}  // namespace solver::bench
