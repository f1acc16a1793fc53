#include "gemm.hpp"

#include "core/dense_check.hpp"
#include "gemm/complex.hpp"
#include "gemm/elements/elements.hpp"
#include "gemm/residue/residue.hpp"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <array>

namespace solver::cuda {
namespace {

template <class T>
bool has_contiguous_columns(const GemmTask<T>& task) {
    return task.c.column_stride == 1;
}

/// C = alpha A B + beta C as C^T = alpha B^T A^T + beta C^T.
template <class T>
GemmTask<T> transposed(const GemmTask<T>& task) {
    return {task.alpha, task.b.transposed(), task.a.transposed(), task.beta, task.c.transposed()};
}

/// Rows first..first+rows-1 and columns first_column.. of C.
template <class T>
GemmTask<T> part_of(const GemmTask<T>& task, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    GemmTask<T> part = task;
    part.a.rows = part.c.rows = rows;
    part.b.columns = part.c.columns = columns;
    part.a.data += row * task.a.row_stride;
    part.b.data += column * task.b.column_stride;
    part.c.data += row * task.c.row_stride + column * task.c.column_stride;
    return part;
}

/// Whether floats are to be summed in double, rounded once: in `compensated`, whose promise that keeps (k products lose at most
/// k 2^-53 of the sum of magnitudes and may lose (h 2^-24)^2 with h = min(k, 1024): enough up to k = 2^25), and in `fast` where
/// the matrix units make doubles as fast as floats.
template <class T>
bool suits_double(const GemmTask<T>& task, Accuracy accuracy, FloatSums float_sums) {
    if (!std::is_same_v<T, float>) return false;
    if (accuracy == Accuracy::fast) return float_sums == FloatSums::in_double;
    return accuracy == Accuracy::compensated && task.inner() <= 1 << 24;
}

/// What the other routes take on an H200, roughly.
template <class T>
double seconds_without_residues(const GemmTask<T>& task, Accuracy accuracy, bool in_double) {
    const double products =
        static_cast<double>(task.c.rows) * static_cast<double>(task.c.columns) * static_cast<double>(task.inner());
    if (accuracy == Accuracy::fast || in_double) return products / 2.7e13;
    return std::max(products / 1e12, 3e-7 * static_cast<double>(task.inner()));  // in less than a wave of blocks
}

/// Below this in any direction the residue product is mostly padding.
constexpr std::int64_t least_residue_extent = 128;

/// Of rows, columns and products of the ring.
template <class T>
std::int64_t least_extent(const GemmTask<T>& task, Ring ring) {
    return std::min({task.c.rows, task.c.columns / products_of(ring), task.inner() / products_of(ring)});
}

/// Columns of one launch, which grids count by 128 along y, up to 65535.
constexpr std::int64_t most_columns = 1 << 22;

}  // namespace

struct Multiplier::Workspace {
    int device;
    std::int64_t limit;
    int multiprocessors;
    FloatSums float_sums;
    ResidueRoute residues;
    RealForm real_form;
    Grown<std::uint32_t> open;
    Grown<std::int64_t> listed;
    DeviceArray<unsigned long long> counters;  ///< elements that multiply_open had the last time, and in all
    GemmReport report;

    Workspace(int on_device, std::int64_t workspace_limit)
        : device(on_device),
          limit(workspace_limit > 0 ? workspace_limit : describe(on_device).memory_bytes / 3),
          multiprocessors(describe(on_device).multiprocessors),
          float_sums(traits_of(on_device).float_sums),
          residues(on_device),
          real_form(on_device),
          counters(on_device, std::array<unsigned long long, 2>{}, "counters of a dense product") {}

    template <class T>
    void multiply_marked(const GemmTask<T>& task, const OpenElements& marks, Stream stream) {
        const OpenList list{listed.at_least(device, OpenList::room, "a list of elements"), counters.data()};
        multiply_open(task, marks, list, counters.data() + 1, multiprocessors, stream);
    }

    template <class T>
    void multiply(const GemmTask<T>& given, Accuracy accuracy, const GemmOptions& options, Stream stream) {
        require_valid(given, options);
        report = {};
        counters.fill_with_zeros(stream);
        if (given.c.rows == 0 || given.c.columns == 0) return;
        if (given.alpha == T(0) || given.inner() == 0) return scale_matrix(given, stream);
        if (accuracy == Accuracy::fast && options.summation != GemmSummation::automatic) {
            report.route = GemmRoute::tiled;
            return multiply_tiled(given, options, device, stream);
        }
        multiply_part(has_contiguous_columns(given) ? given : transposed(given), Ring::integers, accuracy, options, stream);
    }

    template <class T>
    void multiply(const GemmTask<std::complex<T>>& given, Accuracy accuracy, Conjugation conjugation, Stream stream) {
        require_valid(given);
        if (given.c.rows > 0 && given.c.columns > 0 && !has_contiguous_columns(given))
            return multiply(transposed(given), accuracy, {conjugation.b, conjugation.a}, stream);
        report = {};
        counters.fill_with_zeros(stream);
        if (given.c.rows == 0 || given.c.columns == 0) return;
        if (given.alpha == T(0) || given.inner() == 0) return scale_matrix(real_form.without_factors(given), stream);
        multiply_part(real_form.of(given, conjugation, stream), Ring::gaussian, accuracy, {}, stream);
    }

    template <class T>
    void multiply_part(const GemmTask<T>& task, Ring ring, Accuracy accuracy, const GemmOptions& options, Stream stream) {
        const std::int64_t m = task.c.rows, n = task.c.columns, step = products_of(ring);
        const auto multiply_both = [&](const GemmTask<T>& one, const GemmTask<T>& other) {
            multiply_part(one, ring, accuracy, options, stream);
            multiply_part(other, ring, accuracy, options, stream);
        };
        const auto in_columns = [&](std::int64_t first) {
            multiply_both(part_of(task, 0, m, 0, first), part_of(task, 0, m, first, n - first));
        };
        if (n > most_columns) return in_columns(most_columns);
        const double elsewhere = seconds_without_residues(task, accuracy, suits_double(task, accuracy, float_sums));
        const ResidueChoice choice = least_extent(task, ring) >= least_residue_extent
                                         ? residues.choose(task, ring, accuracy, elsewhere, stream)
                                         : ResidueChoice();
        const bool too_large = choice.bytes > limit;
        const bool can_be_halved = std::max(m, n / step) > 2 * least_residue_extent;
        if (choice.moduli == 0 || (too_large && !can_be_halved)) {
            if (ring == Ring::gaussian) return multiply_part(task, Ring::integers, accuracy, options, stream);
            return multiply_without_residues(task, accuracy, options, stream);
        }
        if (too_large && m >= n / step)
            return multiply_both(part_of(task, 0, m / 2, 0, n), part_of(task, m / 2, m - m / 2, 0, n));
        if (too_large) return in_columns(n / step / 2 * step);
        report.route = GemmRoute::residues;
        report.moduli = std::max(report.moduli, choice.moduli);
        multiply_marked(task, residues.multiply(task, ring, accuracy, choice, stream), stream);
    }

    template <class T>
    void multiply_without_residues(const GemmTask<T>& task, Accuracy accuracy, const GemmOptions& options, Stream stream) {
        if constexpr (std::is_same_v<T, float>) {
            if (suits_double(task, accuracy, float_sums)) {
                report.route = GemmRoute::tiled;
                return multiply_tiled_in_double(task, device, stream);
            }
        }
        if (accuracy == Accuracy::fast) {
            report.route = GemmRoute::tiled;
            return multiply_tiled(task, options, device, stream);
        }
        report.route = GemmRoute::elements;
        const std::int64_t blocks = (task.c.columns + 127) / 128;
        const OpenElements marks{open.at_least(device, task.c.rows * blocks * 4, "marks of elements"), task.c.rows, blocks};
        if (task.inner() > most_filtered_products)
            mark_all(marks, task.c.columns, stream);
        else
            multiply_filtered(task, accuracy, marks, stream);
        multiply_marked(task, marks, stream);
    }
};

Multiplier::Multiplier(int device, std::int64_t workspace_limit) {
    const CurrentDevice current(device);
    workspace_ = std::make_unique<Workspace>(device, workspace_limit);
}
Multiplier::Multiplier(Multiplier&&) noexcept = default;
Multiplier& Multiplier::operator=(Multiplier&&) noexcept = default;
Multiplier::~Multiplier() = default;

void Multiplier::gemm(const GemmTask<double>& task, Accuracy accuracy, const GemmOptions& options, Stream stream) {
    const CurrentDevice current(workspace_->device);
    workspace_->multiply(task, accuracy, options, stream);
}

void Multiplier::gemm(const GemmTask<float>& task, Accuracy accuracy, const GemmOptions& options, Stream stream) {
    const CurrentDevice current(workspace_->device);
    workspace_->multiply(task, accuracy, options, stream);
}

void Multiplier::gemm(const GemmTask<std::complex<double>>& task, Accuracy accuracy, Conjugation conjugation, Stream stream) {
    const CurrentDevice current(workspace_->device);
    workspace_->multiply(task, accuracy, conjugation, stream);
}

void Multiplier::gemm(const GemmTask<std::complex<float>>& task, Accuracy accuracy, Conjugation conjugation, Stream stream) {
    const CurrentDevice current(workspace_->device);
    workspace_->multiply(task, accuracy, conjugation, stream);
}

GemmReport Multiplier::report(Stream stream) const {
    const CurrentDevice current(workspace_->device);
    GemmReport report = workspace_->report;
    unsigned long long counters[2];
    workspace_->counters.copy_to(counters, stream);
    report.recomputed = static_cast<std::int64_t>(counters[1]);
    report.workspace_bytes = workspace_->residues.workspace_bytes() + workspace_->real_form.bytes() + workspace_->open.bytes() +
                             workspace_->listed.bytes() + workspace_->counters.bytes();
    return report;
}

}  // namespace solver::cuda
