#include "core/dense_check.hpp"
#include "gemm.hpp"
#include "gemm/nonnegative/sums.cuh"
#include "gemm/tiled/spread.cuh"
#include "runtime/check.cuh"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace solver::cuda {
namespace {

using tiled::multiply_and_spread;
using tiled::SpreadResult;

using namespace nonnegative;

template <class T>
DenseView<T> part(const DenseView<T>& x, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    return {rows, columns, x.row_stride, x.column_stride, x.data + row * x.row_stride + column * x.column_stride};
}
template <class T>
MutableDenseView<T> part(const MutableDenseView<T>& x, std::int64_t row, std::int64_t column, std::int64_t rows,
                         std::int64_t columns) {
    return {rows, columns, x.row_stride, x.column_stride, x.data + row * x.row_stride + column * x.column_stride};
}

/// Elements of working memory for `depth` levels on m x k by k x n.
std::int64_t workspace_size(std::int64_t m, std::int64_t n, std::int64_t k, int depth) {
    std::int64_t size = 0;
    for (int level = 0; level < depth; ++level) {
        m /= 2, n /= 2, k /= 2;
        size += 4 * m * k + 4 * k * n + m * n;
    }
    return size;
}

/// Where a level keeps its sums.
template <class T>
struct Level {
    T* s;  ///< S1..S4
    T* t;  ///< T1..T4
    T* u;
    T* rest;  ///< for the levels below
};

/// A second stream, so that the last blocks of a product run beside the first of the next, and what each waits for.
class Fork {
public:
    enum Mark { begun, formed, product_1, product_4, side_is_done, marks };

    explicit Fork(int device) : Fork(device, WithoutEvents{}) {  // so that an exception destroys what there is
        const CurrentDevice current(device);
        for (cudaEvent_t& event : events_)
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", "a second stream");
    }
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;
    ~Fork() {
        for (const cudaEvent_t event : events_)
            if (event != nullptr) cudaEventDestroy(event);
    }

    Stream side() const { return side_.get(); }
    void set(Mark mark, Stream stream) const {
        check(cudaEventRecord(events_[mark], stream), "cudaEventRecord", "a non-negative product");
    }
    void wait_for(Mark mark, Stream stream) const {
        check(cudaStreamWaitEvent(stream, events_[mark]), "cudaStreamWaitEvent", "a non-negative product");
    }

private:
    struct WithoutEvents {};
    Fork(int device, WithoutEvents) : side_(device) {}

    OwnedStream side_;
    std::array<cudaEvent_t, marks> events_{};
};

template <class T>
class Winograd {
public:
    Winograd(T alpha, Stream stream, const Fork& fork) : alpha_(alpha), stream_(stream), fork_(fork) {}

    static Level<T> level(const DenseView<T>& a, const DenseView<T>& b, T* memory) {
        T* const t = memory + a.rows * a.columns;
        T* const u = t + b.rows * b.columns;
        return {memory, t, u, u + a.rows / 2 * (b.columns / 2)};
    }

    /// The sums of both factors. `watches`: of A and B, or none.
    void form(const DenseView<T>& a, const DenseView<T>& b, const Level<T>& level,
              const std::optional<std::array<Watch, 2>>& watches, Stream stream) const {
        form_side<Side::left>(a, level.s, watches ? &(*watches)[0] : nullptr, stream);
        form_side<Side::right>(b, level.t, watches ? &(*watches)[1] : nullptr, stream);
    }

    /// C = alpha A B, or +=, by `depth` levels, 1 or more.
    void multiply(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, bool add, int depth,
                  T* memory) const {
        multiply(a, b, c, add, depth, memory, {}, [](Stream) { return true; });
    }

    /// C = alpha A B, or +=, by `depth` levels, looking at all entries if watches are given. Asks sums_formed(stream), with the
    /// stream that looks, whether to go on, before anything writes to C, and returns the answer.
    template <class Formed>
    bool multiply(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, bool add, int depth, T* memory,
                  const std::optional<std::array<Watch, 2>>& watches, Formed&& sums_formed) const {
        const Level<T> here = level(a, b, memory);
        if (depth == 1) return multiply_leaves(a, b, c, add, here, watches, sums_formed);
        form(a, b, here, watches, stream_);
        if (!sums_formed(stream_)) return false;
        multiply_formed(a, b, c, add, depth, here);
        return true;
    }

private:
    /// The parts of a level.
    struct Parts {
        const DenseView<T>& a;
        const DenseView<T>& b;
        const MutableDenseView<T>& c;
        const Level<T>& level;
        std::int64_t m = a.rows / 2, n = b.columns / 2, k = a.columns / 2;

        DenseView<T> a_at(int i, int j) const { return part(a, i * m, j * k, m, k); }
        DenseView<T> b_at(int i, int j) const { return part(b, i * k, j * n, k, n); }
        MutableDenseView<T> c_at(int i, int j) const { return part(c, i * m, j * n, m, n); }
        DenseView<T> s(int i) const { return without_gaps(a, level.s + (i - 1) * m * k, m, k); }
        DenseView<T> t(int i) const { return without_gaps(b, level.t + (i - 1) * k * n, k, n); }
        MutableDenseView<T> u() const { return {m, n, n, 1, level.u}; }
    };

    /// Table 1 of the paper where products are ordinary ones: each writes to U and C at once. A second stream forms the sums
    /// beside A11 B11, which needs none of them; C11 gets A11 B11 from U, so that nothing is written to C before.
    template <class Formed>
    bool multiply_leaves(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, bool add,
                         const Level<T>& level, const std::optional<std::array<Watch, 2>>& watches,
                         Formed&& sums_formed) const {
        const Parts p{a, b, c, level};
        const MutableDenseView<T> u = p.u();
        const Stream side = fork_.side();
        const auto leaf = [&](Stream stream, const DenseView<T>& x, const DenseView<T>& y, bool add_u,
                              std::initializer_list<std::pair<MutableDenseView<T>, bool>> targets) {
            SpreadResult<T> result{alpha_};
            if (add_u) result.base = u.data, result.base_stride = u.row_stride;
            for (const auto& [target, add_to] : targets) result.to(target.data, target.row_stride, add_to);
            multiply_and_spread(x, y, result, stream);
        };
        fork_.set(Fork::begun, stream_);
        fork_.wait_for(Fork::begun, side);
        leaf(stream_, p.a_at(0, 0), p.b_at(0, 0), false, {{u, false}});
        form(a, b, level, watches, side);
        if (!sums_formed(side)) return false;
        fork_.set(Fork::formed, side);
        leaf(side, p.s(1), p.t(1), false, {{p.c_at(0, 1), add}, {p.c_at(1, 1), add}});
        fork_.set(Fork::product_1, side);
        fork_.wait_for(Fork::formed, stream_);
        leaf(stream_, p.a_at(0, 1), p.b_at(1, 0), true, {{p.c_at(0, 0), add}});
        leaf(side, p.a_at(1, 1), p.t(3), false, {{p.c_at(1, 0), add}});
        fork_.wait_for(Fork::product_1, stream_);
        leaf(stream_, p.s(2), p.t(2), true, {{u, false}, {p.c_at(0, 1), true}});
        fork_.set(Fork::product_4, stream_);
        fork_.wait_for(Fork::product_4, side);
        leaf(side, p.s(4), p.t(4), true, {{p.c_at(1, 1), true}, {p.c_at(1, 0), true}});
        leaf(stream_, p.s(3), p.b_at(1, 1), false, {{p.c_at(0, 1), true}});
        fork_.set(Fork::side_is_done, side);
        fork_.wait_for(Fork::side_is_done, stream_);
        return true;
    }

    /// Table 1 above other levels, once the sums are there.
    void multiply_formed(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, bool add, int depth,
                         const Level<T>& level) const {
        const Parts p{a, b, c, level};
        const MutableDenseView<T> u = p.u();
        const int below = depth - 1;
        const auto recurse = [&](const DenseView<T>& x, const DenseView<T>& y, const MutableDenseView<T>& z, bool add_to) {
            multiply(x, y, z, add_to, below, level.rest);
        };
        const auto add_u = [&](std::initializer_list<std::pair<MutableDenseView<T>, bool>> targets) {
            SpreadResult<T> result;
            for (const auto& [target, add_to] : targets) result.to(target.data, target.row_stride, add_to);
            spread<<<grid_for(u.columns, u.rows), 256, 0, stream_>>>(u.data, u.rows, u.columns, result);
            check_launch("spread");
        };
        recurse(p.s(1), p.t(1), u, false);
        add_u({{p.c_at(0, 1), add}, {p.c_at(1, 1), add}});
        recurse(p.a_at(0, 0), p.b_at(0, 0), u, false);
        add_u({{p.c_at(0, 0), add}});
        recurse(p.a_at(0, 1), p.b_at(1, 0), p.c_at(0, 0), true);
        recurse(p.s(2), p.t(2), u, true);
        add_u({{p.c_at(0, 1), true}});
        recurse(p.s(3), p.b_at(1, 1), p.c_at(0, 1), true);
        recurse(p.a_at(1, 1), p.t(3), p.c_at(1, 0), add);
        recurse(p.s(4), p.t(4), u, true);
        add_u({{p.c_at(1, 1), true}, {p.c_at(1, 0), true}});
    }

    static DenseView<T> without_gaps(const DenseView<T>& like, T* data, std::int64_t rows, std::int64_t columns) {
        const bool by_rows = like.column_stride == 1;
        return {rows, columns, by_rows ? columns : 1, by_rows ? 1 : rows, data};
    }

    template <Side side>
    void form_side(const DenseView<T>& x, T* sums, const Watch* watch, Stream stream) const {
        constexpr int vector = 16 / sizeof(T);
        const Quarters<T> q = quarters(x);
        const bool aligned = reinterpret_cast<std::uintptr_t>(q.first) % 16 == 0 && q.stride % vector == 0 &&
                             q.across % vector == 0 && q.down % vector == 0 && q.length % vector == 0;
        if (aligned)
            form_side_by<side, vector>(q, sums, watch, stream);
        else
            form_side_by<side, 1>(q, sums, watch, stream);
    }
    template <Side side, int vector>
    void form_side_by(const Quarters<T>& q, T* sums, const Watch* watch, Stream stream) const {
        const dim3 grid = grid_for(q.length / vector, q.lines);
        if (watch != nullptr)
            form_sums<T, vector, side, true><<<grid, 256, 0, stream>>>(q, sums, *watch);
        else
            form_sums<T, vector, side, false><<<grid, 256, 0, stream>>>(q, sums, Watch{});
        check_launch("form_sums");
    }

    T alpha_;
    Stream stream_;
    const Fork& fork_;
};

/// The depth that was fastest on an H200, for both types.
template <class T>
int depth_that_pays(const GemmTask<T>& task) {
    const std::int64_t size = std::min({task.c.rows, task.c.columns, task.inner()});
    return size >= 16384 ? 3 : size >= 8192 ? 1 : 0;
}

template <class T>
void multiply_conventionally(const GemmTask<T>& task, int device, Stream stream) {
    if constexpr (std::is_same_v<T, float>)
        multiply_tiled_in_double(task, device, stream);
    else
        multiply_tiled(task, GemmOptions{GemmSummation::plain}, device, stream);
}

/// Sums of 2^depth parts along k.
template <class T>
void multiply_by_outer_products(const GemmTask<T>& task, int depth, int device, Stream stream) {
    const std::int64_t parts = std::min<std::int64_t>(std::int64_t{1} << depth, std::max<std::int64_t>(task.inner(), 1));
    for (std::int64_t p = 0; p < parts; ++p) {
        const std::int64_t from = task.inner() * p / parts / 4 * 4;
        const std::int64_t to = p + 1 == parts ? task.inner() : task.inner() * (p + 1) / parts / 4 * 4;
        const DenseView<T> a = part(task.a, 0, from, task.a.rows, to - from);
        const DenseView<T> b = part(task.b, from, 0, to - from, task.b.columns);
        multiply_conventionally(GemmTask<T>{task.alpha, a, b, p == 0 ? task.beta : T(1), task.c}, device, stream);
    }
}

bool is_recursive(NonnegativeAlgorithm algorithm) {
    return algorithm == NonnegativeAlgorithm::automatic || algorithm == NonnegativeAlgorithm::winograd;
}

/// The part of a product that the recursion takes: what can be halved `depth` times into aligned parts. The strips beside it
/// are left to ordinary products.
struct Core {
    std::int64_t m = 0, n = 0, k = 0;
};

template <class T>
Core core_of(const GemmTask<T>& task, int depth) {
    const auto whole = [&](std::int64_t n) { return n - n % ((16 / static_cast<std::int64_t>(sizeof(T))) << depth); };
    const Core core{whole(task.c.rows), whole(task.c.columns), whole(task.inner())};
    return core.m == 0 || core.n == 0 || core.k == 0 ? Core{} : core;
}

/// What is left of the product beside its core.
template <class T>
void multiply_strips(const GemmTask<T>& task, const Core& core, int device, Stream stream) {
    const auto [m, n, k] = core;
    const std::int64_t rows = task.c.rows, columns = task.c.columns, inner = task.inner();
    const auto conventionally = [&](const DenseView<T>& x, const DenseView<T>& y, T beta, const MutableDenseView<T>& z) {
        if (z.rows != 0 && z.columns != 0 && (x.columns != 0 || beta != 1))
            multiply_conventionally(GemmTask<T>{task.alpha, x, y, beta, z}, device, stream);
    };
    conventionally(part(task.a, 0, k, m, inner - k), part(task.b, k, 0, inner - k, n), T(1), part(task.c, 0, 0, m, n));
    conventionally(part(task.a, 0, 0, m, inner), part(task.b, 0, n, inner, columns - n), task.beta,
                   part(task.c, 0, n, m, columns - n));
    conventionally(part(task.a, m, 0, rows - m, inner), task.b, task.beta, part(task.c, m, 0, rows - m, columns));
}

/// Who looks for entries that are negative or not finite in A (0) and B (1). Of a transposed product they are named as in the
/// original.
struct Watches {
    unsigned long long* offenders;
    bool was_transposed;

    template <class T>
    Watch of(const DenseView<T>& x, int which) const {
        const bool by_rows = (x.column_stride == 1) != was_transposed;
        return {offenders + which, by_rows, was_transposed ? x.columns : x.rows, was_transposed ? x.rows : x.columns};
    }

    /// Looks at the part that begins in (row, column).
    template <class T>
    void look_from(const DenseView<T>& x, int which, std::int64_t row, std::int64_t column, Stream stream) const {
        const DenseView<T> named = was_transposed ? x.transposed() : x;
        if (was_transposed) std::swap(row, column);
        if (row >= named.rows || column >= named.columns) return;
        const Watch watch = of(x, which);
        const std::int64_t length = watch.by_rows ? named.columns - column : named.rows - row;
        const std::int64_t lines = watch.by_rows ? named.rows - row : named.columns - column;
        look_at_part<<<grid_for(length, lines), 256, 0, stream>>>(named, row, column, watch);
        check_launch("look_at_part");
    }
};

[[noreturn]] void refuse(const char* name, std::int64_t row, std::int64_t column, double value) {
    throw InvalidArgument(std::string("non-negative product: ") + name + "(" + std::to_string(row) + ", " +
                          std::to_string(column) + "), counted from 0, is " + std::to_string(value) +
                          "; expected finite numbers >= 0; use gemm for others, or conventional_if_negative");
}

}  // namespace

struct NonnegativeMultiplier::Workspace {
    int device;
    DeviceArray<unsigned char> memory;
    DeviceArray<unsigned long long> offenders;
    Fork fork;

    explicit Workspace(int on) : device(on), offenders(on, 2, "looking for negative entries"), fork(on) {}

    template <class T>
    NonnegativeReport gemm(const GemmTask<T>& asked, const NonnegativeOptions& options, Stream stream);

private:
    template <class T>
    int depth_for(const GemmTask<T>& task, const NonnegativeOptions& options) const;
    template <class T>
    int affordable_depth(const GemmTask<T>& task, int depth, std::int64_t limit) const;
    template <class T>
    T* reserve(std::int64_t elements);
    template <class T>
    bool offended(const GemmTask<T>& task, bool was_transposed, bool refused, Stream stream) const;
};

template <class T>
T* NonnegativeMultiplier::Workspace::reserve(std::int64_t elements) {
    const std::int64_t bytes = elements * static_cast<std::int64_t>(sizeof(T));
    if (memory.size() < bytes) {
        memory = {};
        memory = DeviceArray<unsigned char>(device, bytes, "sums of a non-negative product");
    }
    return reinterpret_cast<T*>(memory.data());
}

template <class T>
int NonnegativeMultiplier::Workspace::affordable_depth(const GemmTask<T>& task, int depth, std::int64_t limit) const {
    if (limit <= 0) limit = free_bytes(device) / 2 + memory.size();
    const auto bytes = [&](int d) {
        return workspace_size(task.c.rows, task.c.columns, task.inner(), d) * static_cast<std::int64_t>(sizeof(T));
    };
    while (depth > 0 && bytes(depth) > limit) --depth;
    return depth;
}

template <class T>
int NonnegativeMultiplier::Workspace::depth_for(const GemmTask<T>& task, const NonnegativeOptions& options) const {
    if (options.algorithm == NonnegativeAlgorithm::conventional || task.inner() == 0) return 0;
    const int depth = options.depth >= 0 ? std::min(options.depth, 20) : depth_that_pays(task);
    return is_recursive(options.algorithm) ? affordable_depth(task, depth, options.workspace_limit) : depth;
}

/// Whether there was an entry that is negative or not finite. Throws where that is refused.
template <class T>
bool NonnegativeMultiplier::Workspace::offended(const GemmTask<T>& task, bool was_transposed, bool refused,
                                                Stream stream) const {
    std::array<unsigned long long, 2> first{};
    offenders.copy_to(std::span(first), stream);
    if (first[0] == no_offender && first[1] == no_offender) return false;
    if (!refused) return true;
    // of the transposed product, A is B transposed
    const int which = was_transposed ? (first[1] != no_offender ? 1 : 0) : (first[0] != no_offender ? 0 : 1);
    const DenseView<T>& x = which == 0 ? task.a : task.b;
    const auto place = static_cast<std::int64_t>(first[static_cast<std::size_t>(which)]);
    const std::int64_t columns = was_transposed ? x.rows : x.columns;
    const std::int64_t row = place / columns, column = place % columns;
    T value{};
    detail::copy_to_host(
        device, &value,
        x.data + (was_transposed ? column : row) * x.row_stride + (was_transposed ? row : column) * x.column_stride,
        sizeof value, stream);
    refuse((which == 0) != was_transposed ? "A" : "B", row, column, double{value});
}

template <class T>
NonnegativeReport NonnegativeMultiplier::Workspace::gemm(const GemmTask<T>& asked, const NonnegativeOptions& options,
                                                         Stream stream) {
    using Algorithm = NonnegativeAlgorithm;
    require_valid("non-negative product", asked);
    const bool was_transposed = asked.c.column_stride != 1;
    GemmTask<T> task = was_transposed ? tiled::transposed(asked) : asked;
    if (task.alpha == 0) task.a.columns = task.b.rows = 0;  // reads neither
    if (task.c.rows == 0 || task.c.columns == 0) return {};
    const CurrentDevice current(device);

    const int depth = depth_for(task, options);
    const Core core = depth > 0 && is_recursive(options.algorithm) ? core_of(task, depth) : Core{};
    check(cudaMemsetAsync(offenders.data(), 0xFF, 2 * sizeof(unsigned long long), stream), "cudaMemsetAsync",
          "looking for negative entries");
    const Watches watches{offenders.data(), was_transposed};
    const auto is_offended = [&](Stream looked) {
        return offended(task, was_transposed, !options.conventional_if_negative, looked);
    };
    watches.look_from(task.a, 0, core.m, 0, stream);
    watches.look_from(task.b, 1, core.k, 0, stream);
    if (core.m == 0) {
        if (is_offended(stream) || options.algorithm != Algorithm::outer_product || depth == 0) {
            multiply_conventionally(task, device, stream);
            return {};
        }
        multiply_by_outer_products(task, depth, device, stream);
        return {Algorithm::outer_product, depth, 0};
    }
    watches.look_from(task.a, 0, 0, core.k, stream);
    watches.look_from(task.b, 1, 0, core.n, stream);

    const std::int64_t elements = workspace_size(core.m, core.n, core.k, depth);
    const DenseView<T> a = part(task.a, 0, 0, core.m, core.k), b = part(task.b, 0, 0, core.k, core.n);
    const MutableDenseView<T> c = part(task.c, 0, 0, core.m, core.n);
    const auto accepted = [&](Stream formed) {
        if (is_offended(formed)) return false;
        if (task.beta != 0 && task.beta != 1) {
            scale<<<grid_for(core.n, core.m), 256, 0, formed>>>(c.data, c.row_stride, core.m, core.n, task.beta);
            check_launch("scale");
        }
        return true;
    };
    if (!Winograd<T>(task.alpha, stream, fork)
             .multiply(a, b, c, task.beta != 0, depth, reserve<T>(elements),
                       std::array{watches.of(task.a, 0), watches.of(task.b, 1)}, accepted)) {
        multiply_conventionally(task, device, stream);
        return {};
    }
    multiply_strips(task, core, device, stream);
    return {Algorithm::winograd, depth, elements * static_cast<std::int64_t>(sizeof(T))};
}

NonnegativeMultiplier::NonnegativeMultiplier(int device) : workspace_(std::make_unique<Workspace>(device)) {}
NonnegativeMultiplier::NonnegativeMultiplier(NonnegativeMultiplier&&) noexcept = default;
NonnegativeMultiplier& NonnegativeMultiplier::operator=(NonnegativeMultiplier&&) noexcept = default;
NonnegativeMultiplier::~NonnegativeMultiplier() = default;

NonnegativeReport NonnegativeMultiplier::gemm(const GemmTask<double>& task, const NonnegativeOptions& options, Stream stream) {
    return workspace_->gemm(task, options, stream);
}
NonnegativeReport NonnegativeMultiplier::gemm(const GemmTask<float>& task, const NonnegativeOptions& options, Stream stream) {
    return workspace_->gemm(task, options, stream);
}

bool lies_on_a_device(const void* memory) {
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
}

}  // namespace solver::cuda
