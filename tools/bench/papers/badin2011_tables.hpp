#pragma once

/// What M. Badin, L. Bic, M. Dillencourt, A. Nicolau, Improving accuracy for matrix multiplications on GPUs, Scientific
/// Programming 19(1), 2011, report of SGEMM on a GTX 285 with CUDA 2.3.

#include "inputs.hpp"
#include "solver/gemm.hpp"

#include <array>
#include <cstdint>

namespace solver::bench::badin2011 {

/// A line of tables 4 to 9. Errors are absolute, in millionths, against products rounded to float and summed in double, over
/// all of C. Their multiply-add truncated products, so that errors lean to one side on [0, 1].
struct Line {
    int table;
    GemmSummation summation;  ///< plain: Nvidia's SGEMM
    Elements elements;
    std::int64_t n;
    std::int64_t tile;  ///< products summed plainly; 0: all of them
    double average, lowest, highest;
    double gigaflops;
};

using enum GemmSummation;
using enum Elements;

inline constexpr std::array lines{
    Line{4, plain, uniform, 1024, 0, 88, -551, 534, 429.5},
    Line{4, plain, uniform, 2048, 0, 246, -1657, 1773, 440.5},
    Line{4, plain, uniform, 3072, 0, 511, -3693, 3278, 439.3},
    Line{4, plain, uniform, 4096, 0, 691, -5259, 4995, 441.9},
    Line{4, plain, uniform, 5120, 0, 1129, -8014, 7527, 442.2},
    Line{5, doubly_compensated, uniform, 1024, 1, 6, -16, 16, 59.7},
    Line{5, doubly_compensated, uniform, 1024, 16, 11, -35, 14, 306.8},
    Line{5, doubly_compensated, uniform, 1024, 32, 11, -45, 20, 357.9},
    Line{5, doubly_compensated, uniform, 1024, 64, 12, -61, 39, 357.9},
    Line{5, doubly_compensated, uniform, 2048, 1, 11, -32, 32, 61.6},
    Line{5, doubly_compensated, uniform, 2048, 16, 21, -65, 23, 318.1},
    Line{5, doubly_compensated, uniform, 2048, 32, 22, -78, 34, 373.5},
    Line{5, doubly_compensated, uniform, 2048, 64, 23, -104, 55, 409.0},
    Line{5, doubly_compensated, uniform, 3072, 1, 15, -33, 33, 62.1},
    Line{5, doubly_compensated, uniform, 3072, 16, 31, -80, 18, 320.3},
    Line{5, doubly_compensated, uniform, 3072, 32, 32, -95, 31, 376.5},
    Line{5, doubly_compensated, uniform, 3072, 64, 33, -126, 61, 411.2},
    Line{5, doubly_compensated, uniform, 4096, 1, 23, -64, 64, 62.1},
    Line{5, doubly_compensated, uniform, 4096, 16, 43, -120, 38, 319.6},
    Line{5, doubly_compensated, uniform, 4096, 32, 44, -141, 57, 375.5},
    Line{5, doubly_compensated, uniform, 4096, 64, 45, -173, 92, 411.5},
    Line{5, doubly_compensated, uniform, 5120, 1, 31, -65, 65, 62.2},
    Line{5, doubly_compensated, uniform, 5120, 16, 52, -136, 33, 320.3},
    Line{5, doubly_compensated, uniform, 5120, 32, 54, -161, 52, 376.5},
    Line{5, doubly_compensated, uniform, 5120, 64, 56, -200, 89, 412.3},
    Line{6, plain, both_signs, 1024, 0, 4, -69, 96, 429.5},
    Line{6, plain, both_signs, 2048, 0, 9, -166, 150, 440.5},
    Line{6, plain, both_signs, 3072, 0, 13, -246, 290, 439.3},
    Line{6, plain, both_signs, 4096, 0, 17, -344, 391, 441.9},
    Line{6, plain, both_signs, 5120, 0, 21, -396, 563, 442.2},
    Line{7, doubly_compensated, both_signs, 1024, 1, 0, -3, 3, 59.7},
    Line{7, doubly_compensated, both_signs, 1024, 16, 1, -6, 6, 306.8},
    Line{7, doubly_compensated, both_signs, 1024, 32, 1, -7, 7, 357.9},
    Line{7, doubly_compensated, both_signs, 1024, 64, 1, -9, 9, 357.9},
    Line{7, doubly_compensated, both_signs, 2048, 1, 1, -4, 4, 61.6},
    Line{7, doubly_compensated, both_signs, 2048, 16, 1, -10, 9, 318.1},
    Line{7, doubly_compensated, both_signs, 2048, 32, 1, -12, 11, 373.5},
    Line{7, doubly_compensated, both_signs, 2048, 64, 2, -14, 13, 409.0},
    Line{7, doubly_compensated, both_signs, 3072, 1, 1, -6, 6, 62.1},
    Line{7, doubly_compensated, both_signs, 3072, 16, 1, -11, 10, 320.3},
    Line{7, doubly_compensated, both_signs, 3072, 32, 2, -14, 13, 376.5},
    Line{7, doubly_compensated, both_signs, 3072, 64, 2, -17, 17, 411.2},
    Line{7, doubly_compensated, both_signs, 4096, 1, 1, -6, 6, 62.1},
    Line{7, doubly_compensated, both_signs, 4096, 16, 2, -12, 13, 319.6},
    Line{7, doubly_compensated, both_signs, 4096, 32, 2, -16, 15, 375.5},
    Line{7, doubly_compensated, both_signs, 4096, 64, 3, -22, 20, 411.5},
    Line{7, doubly_compensated, both_signs, 5120, 1, 1, -9, 7, 62.2},
    Line{7, doubly_compensated, both_signs, 5120, 16, 2, -14, 16, 320.3},
    Line{7, doubly_compensated, both_signs, 5120, 32, 2, -17, 18, 376.5},
    Line{7, doubly_compensated, both_signs, 5120, 64, 3, -22, 23, 412.3},
    Line{8, kahan, uniform, 1024, 1, 6, -16, 16, 119.3},
    Line{8, kahan, uniform, 1024, 16, 11, -35, 13, 358.0},
    Line{8, kahan, uniform, 1024, 32, 11, -44, 21, 358.0},
    Line{8, kahan, uniform, 1024, 64, 12, -58, 35, 397.7},
    Line{8, kahan, uniform, 2048, 1, 11, -32, 33, 125.4},
    Line{8, kahan, uniform, 2048, 16, 21, -64, 21, 373.5},
    Line{8, kahan, uniform, 2048, 32, 22, -79, 34, 409.0},
    Line{8, kahan, uniform, 2048, 64, 23, -101, 62, 426.3},
    Line{8, kahan, uniform, 3072, 1, 15, -33, 33, 126.3},
    Line{8, kahan, uniform, 3072, 16, 31, -77, 15, 376.5},
    Line{8, kahan, uniform, 3072, 32, 32, -95, 32, 411.2},
    Line{8, kahan, uniform, 3072, 64, 33, -121, 59, 432.7},
    Line{8, kahan, uniform, 4096, 1, 23, -65, 64, 126.7},
    Line{8, kahan, uniform, 4096, 16, 43, -122, 39, 377.6},
    Line{8, kahan, uniform, 4096, 32, 44, -145, 61, 414.0},
    Line{8, kahan, uniform, 4096, 64, 45, -178, 90, 433.6},
    Line{8, kahan, uniform, 5120, 1, 31, -64, 65, 126.9},
    Line{8, kahan, uniform, 5120, 16, 52, -135, 33, 379.1},
    Line{8, kahan, uniform, 5120, 32, 54, -157, 50, 414.9},
    Line{8, kahan, uniform, 5120, 64, 56, -196, 91, 433.0},
    Line{9, kahan, both_signs, 1024, 1, 0, -3, 3, 119.3},
    Line{9, kahan, both_signs, 1024, 16, 1, -6, 5, 358.0},
    Line{9, kahan, both_signs, 1024, 32, 1, -7, 7, 358.0},
    Line{9, kahan, both_signs, 1024, 64, 1, -10, 9, 397.7},
    Line{9, kahan, both_signs, 2048, 1, 0, -4, 4, 125.4},
    Line{9, kahan, both_signs, 2048, 16, 1, -10, 9, 373.5},
    Line{9, kahan, both_signs, 2048, 32, 1, -11, 11, 409.0},
    Line{9, kahan, both_signs, 2048, 64, 2, -14, 14, 426.3},
    Line{9, kahan, both_signs, 3072, 1, 1, -6, 6, 126.3},
    Line{9, kahan, both_signs, 3072, 16, 1, -11, 11, 376.5},
    Line{9, kahan, both_signs, 3072, 32, 2, -14, 13, 411.2},
    Line{9, kahan, both_signs, 3072, 64, 2, -18, 17, 432.7},
    Line{9, kahan, both_signs, 4096, 1, 1, -6, 6, 126.7},
    Line{9, kahan, both_signs, 4096, 16, 2, -12, 13, 377.6},
    Line{9, kahan, both_signs, 4096, 32, 2, -15, 16, 414.0},
    Line{9, kahan, both_signs, 4096, 64, 3, -21, 20, 433.6},
    Line{9, kahan, both_signs, 5120, 1, 1, -7, 7, 126.9},
    Line{9, kahan, both_signs, 5120, 16, 2, -15, 14, 379.1},
    Line{9, kahan, both_signs, 5120, 32, 2, -17, 17, 414.9},
    Line{9, kahan, both_signs, 5120, 64, 3, -25, 24, 433.0},
};

/// Table 1: GFLOPS at n = 5120 with doubly compensated summation, by threads of a block and rows of its tile (x 16 columns).
struct Shape {
    int threads;
    std::array<double, 3> gigaflops;
};
inline constexpr std::int64_t size_of_shapes = 5120;  ///< n of these
inline constexpr std::array tile_rows{16, 32, 64};
inline constexpr std::array shapes{Shape{64, {315.8, 368.2, 375.4}}, Shape{128, {319.9, 376.5, 412.3}},
                                   Shape{256, {311.8, 370.3, 408.0}}};

}  // namespace solver::bench::badin2011
