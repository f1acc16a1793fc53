#include "gemm/residue/residue.hpp"

#include "gemm/memory.cuh"
#include "gemm/residue/integer.cuh"
#include "gemm/residue/rounding.cuh"
#include "runtime/check.cuh"

#include <algorithm>
#include <array>
#include <limits>

namespace solver::cuda {
namespace {

constexpr int threads = line_threads;
constexpr int warps = line_warps;

// ------------------------------------------------------------------------------------------------- residues

struct WeightTable {
    int count;
    std::int32_t modulus[most_moduli];
    float reciprocal[most_moduli];
    ByteWeights weights[most_moduli];
    ByteWeights odd_weights[most_moduli];  ///< of imaginary parts, for x + r y: those of x - r y are their negatives
};

/// Rows of A or columns of B on their way to residues[l][line][k], zeros beyond the lines and their numbers. Of Gaussian
/// integers residues[2 l] are those of x + r y, residues[2 l + 1] those of x - r y.
template <class T>
struct LinesToResidues {
    Lines<T> lines;
    const LineRange* ranges;
    LineSums* sums;
    double log2_target;
    std::int64_t padded_lines;
    std::int8_t* residues;
    WeightTable table;
};

/// A and B. The grid covers all tiles of the larger one.
template <class T>
struct BothToResidues {
    LinesToResidues<T> of[2];
    std::int64_t padded_inner;  ///< a multiple of tile_inner
};

constexpr int tile_lines = 32;
constexpr int tile_inner = 128;

/// The numbers of `tile_lines` lines from first_line on, `tile_inner` from first_k on; zeros beyond them. By the block.
template <class T>
__device__ __forceinline__ void load_tile(T (&tile)[tile_lines][tile_inner + 1], const Lines<T>& lines, std::int64_t first_line,
                                          std::int64_t first_k) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto load = [&](int row, int column) {
        const std::int64_t line = first_line + row, k = first_k + column;
        tile[row][column] = line < lines.count && k < lines.inner ? lines(line, k) : T(0);
    };
    if (lines.inner_stride == 1) {
        for (int row = warp; row < tile_lines; row += warps)
#pragma unroll
            for (int i = 0; i < tile_inner / warp_size; ++i) load(row, lane + i * warp_size);
    } else {
#pragma unroll 4
        for (int column = warp; column < tile_inner; column += warps) load(lane, column);
    }
}

/// Four numbers a lane, scaled and cut off to whole numbers; what that loses is added to the sums of their line. By a warp.
template <class T, int words>
__device__ __forceinline__ void scale_numbers(std::uint32_t (&word)[4][words], const T* numbers, bool usable, int scale,
                                              LineSums* sums) {
    unsigned long long lost = 0, lost_squares = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const ScaledInteger<words> x(usable ? double{numbers[i]} : 0.0, scale);
#pragma unroll
        for (int w = 0; w < words; ++w) word[i][w] = x.word[w];
        lost += x.lost;
        lost_squares += lost_square(x.lost);
    }
    if (__any_sync(~0u, lost != 0)) {
        lost = sum_warp(lost);
        lost_squares = sum_warp(lost_squares);
        if (threadIdx.x % warp_size == 0) {
            atomicAdd(&sums->lost, lost);
            atomicAdd(&sums->lost_squares, lost_squares);
        }
    }
}

/// Of four integers.
template <int words>
__device__ __forceinline__ void store_residues(const std::uint32_t (&word)[4][words], const WeightTable& table, int l,
                                               std::int8_t* to) {
    std::uint32_t byte[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        byte[i] = residue_byte(add_weighted(magic_bits, word[i], table.weights[l]), table.modulus[l], table.reciprocal[l]);
    *reinterpret_cast<std::uint32_t*>(to) = pack_bytes(byte[0], byte[1], byte[2], byte[3]);
}

/// Of two Gaussian integers x + i y: those of x + r y and of x - r y.
template <int words>
__device__ __forceinline__ void store_gaussian_residues(const std::uint32_t (&word)[4][words], const WeightTable& table, int l,
                                                        std::int8_t* plus, std::int8_t* minus) {
    std::uint32_t of_plus[2], of_minus[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const std::uint32_t x = add_weighted(magic_bits, word[2 * i], table.weights[l]);
        const std::uint32_t y = add_weighted(0, word[2 * i + 1], table.odd_weights[l]);
        of_plus[i] = residue_byte(x + y, table.modulus[l], table.reciprocal[l]);
        of_minus[i] = residue_byte(x - y, table.modulus[l], table.reciprocal[l]);
    }
    *reinterpret_cast<std::uint16_t*>(plus) = static_cast<std::uint16_t>(__byte_perm(of_plus[0], of_plus[1], 0x0040));
    *reinterpret_cast<std::uint16_t*>(minus) = static_cast<std::uint16_t>(__byte_perm(of_minus[0], of_minus[1], 0x0040));
}

template <class T, int words, Ring ring>
__global__ void __launch_bounds__(threads) make_residues(const __grid_constant__ BothToResidues<T> both) {
    __shared__ T tile[tile_lines][tile_inner + 1];
    const Lines<T> lines = both.of[blockIdx.z].lines;
    const LineRange* const ranges = both.of[blockIdx.z].ranges;
    LineSums* const sums = both.of[blockIdx.z].sums;
    const double log2_target = both.of[blockIdx.z].log2_target;
    const std::int64_t padded_lines = both.of[blockIdx.z].padded_lines, padded_inner = both.padded_inner;
    const WeightTable& table = both.of[blockIdx.z].table;
    const std::int64_t first_line = std::int64_t{blockIdx.x} * tile_lines;
    const std::int64_t first_k = std::int64_t{blockIdx.y} * tile_inner;
    if (first_line >= padded_lines) return;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    load_tile(tile, lines, first_line, first_k);
    __syncthreads();
    // Two lines at a time share what is loaded for a modulus.
    for (int row = warp; row < tile_lines / 2; row += warps) {
        std::uint32_t word[2][4][words];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int in_tile = row + half * (tile_lines / 2);
            const std::int64_t line = first_line + in_tile;
            const bool usable = line < lines.count && is_finite_line(ranges[line]);
            const int scale = usable ? scale_for(log2_target, sums[line].log2_norm) : 0;
            scale_numbers(word[half], &tile[in_tile][4 * lane], usable, scale, sums + line);
        }
        constexpr int products = products_of(ring);
        const std::int64_t length = padded_inner / products;  // of a line of residues
        const std::int64_t step = padded_lines * length;
        std::int8_t* out = both.of[blockIdx.z].residues + (first_line + row) * length + (first_k + 4 * lane) / products;
#pragma unroll 2
        for (int l = 0; l < table.count; ++l) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::int8_t* const to = out + half * (tile_lines / 2) * length;
                if constexpr (ring == Ring::gaussian)
                    store_gaussian_residues(word[half], table, l, to, to + step);
                else
                    store_residues(word[half], table, l, to);
            }
            out += products * step;
        }
    }
}

/// Lines scaled to norms of at most 2^log2_target.
struct ScaledLines {
    std::int64_t count;
    const LineRange* ranges;
    const LineSums* sums;
    double log2_target;
    LineBounds* bounds;
    std::int32_t* scales;
};

/// All numbers are rounded up by more than their own errors.
__global__ void make_bounds(ScaledLines a, ScaledLines b) {
    const auto [count, ranges, sums, log2_target, bounds, scales] = blockIdx.y == 0 ? a : b;
    const std::int64_t line = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (line >= count) return;
    const LineRange range = ranges[line];
    if (!is_finite_line(range)) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        bounds[line] = {infinity, infinity, infinity, infinity};
        scales[line] = 0;
        return;
    }
    const LineSums sum = sums[line];
    const int scale = scale_for(log2_target, sum.log2_norm);
    const double lost = mul_rn(static_cast<double>(sum.lost), (1 + 0x1p-50) * 0x1p-31);
    const double lost_norm = mul_rn(sqrt_rn(mul_rn(static_cast<double>(sum.lost_squares), 0x1p-38)), 1 + 0x1p-50);
    const double norm = mul_rn(add_rn(scaled(relative_norm(sum), exponent_of(range) + scale), lost_norm), 1 + 0x1p-50);
    const double largest = add_rn(scaled(largest_of(range), scale), lost != 0 ? 0.5 : 0.0);
    bounds[line] = {__double2float_ru(lost), __double2float_ru(lost_norm), __double2float_ru(norm), __double2float_ru(largest)};
    scales[line] = scale;
}

// ------------------------------------------------------------------------------------------------- the way back

__device__ __forceinline__ void store_four(double* to, const double (&x)[4]) {
    *reinterpret_cast<double2*>(to) = {x[0], x[1]};
    *reinterpret_cast<double2*>(to + 2) = {x[2], x[3]};
}
__device__ __forceinline__ void store_four(float* to, const float (&x)[4]) {
    *reinterpret_cast<float4*>(to) = {x[0], x[1], x[2], x[3]};
}

/// What reconstruct needs of rows of A or columns of B.
struct KnownLines {
    const LineBounds* bounds;
    const std::int32_t* scales;
};

/// What leads from the residues u = re + r im, v = re - r im of twice a Gaussian integer's parts to those of its parts; A has
/// been divided by 2 before. v is below `multiple`.
struct PartsOfResidues {
    std::uint32_t modulus[most_gaussian_moduli];
    std::uint32_t reciprocal[most_gaussian_moduli];  ///< ceil(2^32 / p)
    std::uint32_t multiple[most_gaussian_moduli];    ///< of p
    std::uint32_t factor[most_gaussian_moduli];      ///< r^-1, which is p - r
};

/// x mod p for x < 2^17: the reciprocal times p is 2^32 + e, 0 <= e < p < 2^8, and x e < 2^25 does not lift the quotient's
/// fraction, a multiple of 1 / p, to the next whole number.
__device__ __forceinline__ std::uint32_t remainder_of(std::uint32_t x, std::uint32_t p, std::uint32_t reciprocal) {
    return x - __umulhi(x, reciprocal) * p;
}

/// The residues of four columns of C modulo p_l.
template <Ring ring>
struct ResiduesOfC;

template <>
struct ResiduesOfC<Ring::integers> {
    struct Table {};
    const std::uint8_t* from;
    std::int64_t step;

    __device__ __forceinline__ ResiduesOfC(const std::uint8_t* y, std::int64_t rows, std::int64_t columns, std::int64_t i,
                                           std::int64_t first)
        : from(y + i * columns + first), step(rows * columns) {}

    __device__ __forceinline__ std::uint32_t next(int, const Table&) {
        const std::uint32_t four = __ldcs(reinterpret_cast<const std::uint32_t*>(from));
        from += step;
        return four;
    }
};

template <>
struct ResiduesOfC<Ring::gaussian> {
    using Table = PartsOfResidues;
    const std::uint8_t* from;
    std::int64_t step;

    __device__ __forceinline__ ResiduesOfC(const std::uint8_t* y, std::int64_t rows, std::int64_t columns, std::int64_t i,
                                           std::int64_t first)
        : from(y + i * (columns / 2) + first / 2), step(rows * (columns / 2)) {}

    __device__ __forceinline__ std::uint32_t next(int l, const Table& table) {
        const std::uint32_t u = __ldcs(reinterpret_cast<const std::uint16_t*>(from));
        const std::uint32_t v = __ldcs(reinterpret_cast<const std::uint16_t*>(from + step));
        from += 2 * step;
        const std::uint32_t p = table.modulus[l], reciprocal = table.reciprocal[l];
        std::uint32_t real[2], imaginary[2];
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const std::uint32_t plus = u >> (8 * c) & 255, minus = v >> (8 * c) & 255;
            real[c] = remainder_of(plus + minus, p, reciprocal);
            imaginary[c] = remainder_of((plus + table.multiple[l] - minus) * table.factor[l], p, reciprocal);
        }
        return pack_bytes(real[0], imaginary[0], real[1], imaginary[1]);
    }
};

/// Bytes y[l][i][j] to C. One warp takes 128 columns of a row, 4 a thread; it leaves out what it cannot prove and marks it in
/// `open`: word 4 (i padded_columns / 128 + j / 128) + j % 4, bit j / 4 % 32.
template <class T, Ring ring, int limbs, bool plain, Accuracy accuracy>
__global__ void __launch_bounds__(threads)
    reconstruct(const std::uint8_t* y, std::int64_t padded_rows, std::int64_t padded_columns,
                const __grid_constant__ ReconstructionTable table,
                const __grid_constant__ typename ResiduesOfC<ring>::Table parts, KnownLines rows, KnownLines columns,
                std::int64_t inner, OutputTask<T> task, std::uint32_t* open) {
    const std::int64_t i = blockIdx.x;
    const std::int64_t first = (std::int64_t{blockIdx.y} * threads + threadIdx.x) * 4;
    if (first >= padded_columns) return;
    std::uint64_t sum[4][limbs] = {};
    ResiduesOfC<ring> residues(y, padded_rows, padded_columns, i, first);
#pragma unroll 3
    for (int t = 0; t < table.triples; ++t) {
        std::uint32_t four[triple];
#pragma unroll
        for (int l = 0; l < triple; ++l) four[l] = triple * t + l < table.count ? residues.next(triple * t + l, parts) : 0;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            std::uint32_t together = 0;  // below 3 2^24
#pragma unroll
            for (int l = 0; l < triple; ++l) together += __byte_perm(four[l], 0, 0x4440 + c) * table.triple_of[t].within[l];
#pragma unroll
            for (int j = 0; j < limbs; ++j) sum[c][j] += std::uint64_t{together} * table.triple_of[t].cofactor[j];
        }
    }
    const LineBounds row = rows.bounds[i];
    const int row_scale = rows.scales[i];
    T result[4];
    unsigned closed = 0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const std::int64_t j = first + c;
        if (j >= task.columns) continue;
        const SignedLimbs<limbs> integer(sum[c], table);
        const std::int64_t line = j / products_of(ring);
        const double bound = element_bound(row, columns.bounds[line]);
        const int scale = row_scale + columns.scales[line];
        if (try_element<T, limbs, plain, accuracy>(integer, bound, scale, inner, task, i, j, result[c])) closed |= 1u << c;
    }
    T* to = task.c + i * task.row_stride + first;
    if (closed == 15 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        store_four(to, result);
    } else {
#pragma unroll
        for (int c = 0; c < 4; ++c)
            if ((closed >> c & 1) != 0) to[c] = result[c];
    }
    std::uint32_t* words = open + ((i * (padded_columns / 128)) + first / 128) * 4;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const std::uint32_t marks = __ballot_sync(~0u, (closed >> c & 1) == 0 && first + c < task.columns);
        if (threadIdx.x % warp_size == 0) words[c] = marks;
    }
}

int words_for(double log2_norm) { return log2_norm <= most_bits<1> ? 1 : log2_norm <= most_bits<2> ? 2 : 3; }

/// Calls work(std::integral_constant<int, words>()).
template <class Work>
void with_words(int words, const Work& work) {
    switch (words) {
        case 1:
            return work(std::integral_constant<int, 1>());
        case 2:
            return work(std::integral_constant<int, 2>());
        default:
            return work(std::integral_constant<int, 3>());
    }
}

/// What residues are multiplied by.
enum class Side {
    a,  ///< by ResidueSystem::inverse; imaginary parts by the root
    b   ///< by 1; imaginary parts, which columns of real parts have negated, by the negated root
};

/// To memory.residues, of integers in that many words. `inner`, padded, counts complex numbers as one.
template <class T>
LinesToResidues<T> lines_to_residues(const Lines<T>& lines, LineMemory& memory, const ResidueSystem& system, Ring ring,
                                     Side side, int words, double log2_target, std::int64_t padded_lines,
                                     std::int64_t padded_inner, int device) {
    const std::int64_t size = products_of(ring) * system.count * padded_lines * padded_inner;
    LinesToResidues<T> task{lines,       memory.ranges.data(), memory.sums.data(),
                            log2_target, padded_lines,         memory.residues.at_least(device, size, "residues"),
                            {}};
    task.table.count = system.count;
    for (std::size_t l = 0; l < static_cast<std::size_t>(system.count); ++l) {
        const std::int32_t p = system.modulus[l];
        const std::int32_t factor = side == Side::a ? system.inverse[l] : 1;
        const std::int32_t root = side == Side::a ? system.root[l] : p - system.root[l];
        task.table.modulus[l] = p;
        task.table.reciprocal[l] = system.reciprocal[l];
        task.table.weights[l] = byte_weights(factor, p, words);
        task.table.odd_weights[l] = byte_weights(factor * root % p, p, words);
    }
    return task;
}

template <class T>
ScaledLines scaled_lines(const LinesToResidues<T>& from, LineMemory& memory, int device) {
    return {from.lines.count,
            from.ranges,
            from.sums,
            from.log2_target,
            memory.bounds.at_least(device, from.padded_lines, "the bounds of lines"),
            memory.scales.at_least(device, from.padded_lines, "the scales of lines")};
}

PartsOfResidues parts_of_residues(const ResidueSystem& system) {
    PartsOfResidues parts{};
    for (std::size_t l = 0; l < static_cast<std::size_t>(system.count); ++l) {
        const auto p = static_cast<std::uint32_t>(system.modulus[l]);
        parts.modulus[l] = p;
        parts.reciprocal[l] = static_cast<std::uint32_t>(((1ull << 32) + p - 1) / p);
        parts.multiple[l] = static_cast<std::uint32_t>(product_moduli(Ring::gaussian)[2 * l]);
        parts.factor[l] = p - static_cast<std::uint32_t>(system.root[l]);
    }
    return parts;
}

template <Ring ring>
typename ResiduesOfC<ring>::Table table_of_parts(const ResidueSystem& system) {
    if constexpr (ring == Ring::gaussian)
        return parts_of_residues(system);
    else
        return {};
}

/// Calls work(std::integral_constant<Ring, ring>()).
template <class Work>
void with_ring(Ring ring, const Work& work) {
    if (ring == Ring::gaussian) return work(std::integral_constant<Ring, Ring::gaussian>());
    work(std::integral_constant<Ring, Ring::integers>());
}

/// Calls work(std::integral_constant<int, limbs>()).
template <class Work>
void with_limbs(int limbs, const Work& work) {
    switch (limbs) {
        case 2:
            return work(std::integral_constant<int, 2>());
        case 3:
            return work(std::integral_constant<int, 3>());
        case 4:
            return work(std::integral_constant<int, 4>());
        case 5:
            return work(std::integral_constant<int, 5>());
        default:
            return work(std::integral_constant<int, 6>());
    }
}

template <class Work>
void with_mode(Accuracy accuracy, const Work& work) {
    switch (accuracy) {
        case Accuracy::fast:
            return work(std::integral_constant<Accuracy, Accuracy::fast>());
        case Accuracy::compensated:
            return work(std::integral_constant<Accuracy, Accuracy::compensated>());
        case Accuracy::exact:
            return work(std::integral_constant<Accuracy, Accuracy::exact>());
    }
}

/// Calls work(ring, limbs, mode) as constants, where there is such a ring with so many limbs.
template <class Work>
void with_cases(Ring ring, int limbs, Accuracy accuracy, const Work& work) {
    with_ring(ring, [&](auto of) {
        with_limbs(limbs, [&](auto number) {
            if constexpr (of == Ring::integers || number <= most_affine_limbs)
                with_mode(accuracy, [&](auto mode) { work(of, number, mode); });
        });
    });
}

}  // namespace

ResidueRoute::ResidueRoute(int device) : device_(device), memory_(std::make_unique<Memory>(device)) {}
ResidueRoute::ResidueRoute(ResidueRoute&&) noexcept = default;
ResidueRoute::~ResidueRoute() = default;

std::int64_t ResidueRoute::workspace_bytes() const {
    return memory_->a.bytes() + memory_->b.bytes() + memory_->summaries.bytes() + memory_->sample.bytes() + memory_->y.bytes() +
           memory_->moduli.bytes() + memory_->open.bytes();
}

template <class T>
OpenElements ResidueRoute::multiply(const GemmTask<T>& task, Ring ring, Accuracy accuracy, const ResidueChoice& choice,
                                    Stream stream) {
    const int products = products_of(ring);
    const std::int64_t m = task.c.rows, n = task.c.columns, inner = task.inner();
    const std::int64_t rows = padded(m, 128), columns = padded(n / products, 256), numbers = padded(inner / products, 128);
    const ResidueSystem& system = residue_system(choice.moduli, ring);
    const int words = words_for(std::max(choice.log2_a, choice.log2_b));
    const BothToResidues<T> both{
        {lines_to_residues(rows_of(task.a), memory_->a, system, ring, Side::a, words, choice.log2_a, rows, numbers, device_),
         lines_to_residues(columns_of(task.b, ring), memory_->b, system, ring, Side::b, words, choice.log2_b, columns, numbers,
                           device_)},
        products * numbers};
    const dim3 tiles(blocks_for(std::max(rows, columns), tile_lines), blocks_for(products * numbers, tile_inner), 2);
    with_words(words, [&](auto count) {
        with_ring(ring, [&](auto of) { make_residues<T, count, of><<<tiles, threads, 0, stream>>>(both); });
    });
    check_launch("make_residues");
    const ScaledLines a = scaled_lines(both.of[0], memory_->a, device_), b = scaled_lines(both.of[1], memory_->b, device_);
    make_bounds<<<dim3(blocks_for(std::max(a.count, b.count), threads), 2), threads, 0, stream>>>(a, b);
    check_launch("make_bounds");
    const int matrices = products * system.count;
    std::uint8_t* y = memory_->y.at_least(device_, matrices * rows * columns, "the residues of C");
    multiply_residues(
        {rows, columns, numbers, matrices, memory_->a.residues.data(), memory_->b.residues.data(), y, memory_->moduli_of(ring)},
        device_, stream);

    const std::int64_t real_columns = products * columns;
    const OpenElements open{memory_->open.at_least(device_, rows * real_columns / 32, "marks of elements"), m,
                            real_columns / 128};
    const OutputTask<T> output{task.alpha, task.beta, m, n, task.c.row_stride, task.c.data};
    const KnownLines of_rows{a.bounds, a.scales}, of_columns{b.bounds, b.scales};
    const dim3 grid(static_cast<unsigned>(m), blocks_for(real_columns, 4 * threads));
    const bool plain = is_plain(task);
    with_cases(ring, system.table.limbs, accuracy, [&](auto of, auto limbs, auto mode) {
        const auto launch = [&](auto kernel) {
            kernel<<<grid, threads, 0, stream>>>(y, rows, real_columns, system.table, table_of_parts<of>(system), of_rows,
                                                 of_columns, inner, output, open.words);
        };
        if (plain)
            launch(reconstruct<T, of, limbs, true, mode>);
        else if constexpr (limbs <= most_affine_limbs)
            launch(reconstruct<T, of, limbs, false, mode>);
    });
    check_launch("reconstruct");
    return open;
}

template OpenElements ResidueRoute::multiply(const GemmTask<float>&, Ring, Accuracy, const ResidueChoice&, Stream);
template OpenElements ResidueRoute::multiply(const GemmTask<double>&, Ring, Accuracy, const ResidueChoice&, Stream);

}  // namespace solver::cuda
