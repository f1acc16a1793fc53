#include "bicgstab.hpp"

#include "krylov/step.cuh"
#include "runtime/check.cuh"
#include "runtime/device_loop.cuh"
#include "runtime/traits.hpp"
#include "vectors.hpp"

#include <algorithm>

namespace solver::cuda {
namespace {

/// Steps in the body of a loop: a round costs some microseconds.
constexpr int steps_a_round = 4;

/// In pinned memory, so that copies need no detour.
template <class T>
class Pinned {
public:
    explicit Pinned(int count) : count_(count) {
        check(cudaMallocHost(reinterpret_cast<void**>(&values_), static_cast<std::size_t>(count) * sizeof(T)), "cudaMallocHost",
              "the state of a solve");
        std::fill_n(values_, count, T());
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(values_); }
    T& operator[](int i) const { return values_[i]; }

    void upload(const DeviceArray<T>& to, Stream stream) const {
        check(cudaMemcpyAsync(to.data(), values_, bytes(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync",
              "the state of a solve");
    }
    void download(const DeviceArray<T>& from, Stream stream) const {
        check(cudaMemcpyAsync(values_, from.data(), bytes(), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync",
              "the state of a solve");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "steps of a solve");
    }

private:
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

    int count_;
    T* values_ = nullptr;
};

/// From a vector to the next one, so that all begin as allocated memory does.
template <class T>
constexpr std::int64_t padded(std::int64_t n) {
    constexpr auto line = static_cast<std::int64_t>(256 / sizeof(T));
    return (n + line - 1) / line * line;
}

constexpr int vectors_a_column = 8;

constexpr std::int64_t exact_parts_a_column = most_step_rest_blocks * most_step_sums;

}  // namespace

template <class T>
struct DeviceRecursion<T>::Chain {
    /// What the host knows of one.
    struct Column {
        DeviceArray<T> r, z, shadow;  ///< parts
        std::vector<double> norms;
        bool is_asked = false;
    };

    int device;
    std::int64_t n;
    const SpmvPlan<T>& a;
    DevicePreconditioner<T>* m;
    HostPreconditioner<T> m_on_host;
    Accuracy accuracy;
    Stream stream;
    Traits traits;
    int columns;
    std::int64_t stride;   ///< from one column of a vector to the next
    bool loops_on_device;  ///< whether steps follow one another without the host

    DeviceArray<T> r, z, shadow, p, v, t, own_p_hat, own_s_hat;
    const T* weights = nullptr;
    DeviceArray<char> parts;
    DeviceArray<ExactPart> exact_parts;
    DeviceArray<unsigned> arrived;
    DeviceArray<StepState<T>> device_state;
    DeviceArray<double> device_norms;
    Pinned<StepState<T>> state;
    std::vector<Column> column;
    std::vector<T> host_r, host_z;  ///< for a preconditioner on the host

    std::unique_ptr<DeviceLoop> fast_loop, careful_loop;
    std::int64_t steps_made = 0;
    std::int64_t careful_steps = 0;

    Chain(int on_device, std::int64_t rows, const SpmvPlan<T>& plan, DevicePreconditioner<T>* preconditioner,
          HostPreconditioner<T> on_host, Accuracy mode, Stream on_stream, int at_once)
        : device(on_device),
          n(rows),
          a(plan),
          m(preconditioner),
          m_on_host(std::move(on_host)),
          accuracy(mode),
          stream(on_stream),
          traits(traits_of(on_device)),
          columns(at_once),
          stride(padded<T>(rows)),
          loops_on_device(DeviceLoop::is_possible()),
          r(vector()),
          z(vector()),
          shadow(vector()),
          p(vector()),
          v(vector()),
          t(vector()),
          own_p_hat(is_identity() ? DeviceArray<T>() : vector()),
          own_s_hat(is_identity() ? DeviceArray<T>() : vector()),
          parts(on_device, columns * blocks() * largest_part, "partial sums"),
          exact_parts(on_device, columns * exact_parts_a_column, "exact partial sums"),
          arrived(on_device, columns * 2, "counters"),
          device_state(on_device, columns, "the state of a solve"),
          device_norms(on_device, columns * most_steps, "norms"),
          state(columns) {
        arrived.fill_with_zeros(stream);
        for (int j = 0; j < columns; ++j) {
            const auto part = [&](const DeviceArray<T>& x) { return x.part(j * stride, n); };
            column.push_back({.r = part(r), .z = part(z), .shadow = part(shadow), .norms = {}});
        }
    }

    /// For all columns.
    DeviceArray<T> vector() const {
        DeviceArray<T> x(device, columns * stride, "a vector of BiCGStab");
        x.fill_with_zeros(stream);
        return x;
    }

    bool is_identity() const { return m != nullptr && m->is_identity(); }
    T* p_hat() const { return is_identity() ? p.data() : own_p_hat.data(); }
    T* s_hat() const { return is_identity() ? r.data() : own_s_hat.data(); }

    StepMemory<T> memory(cudaGraphConditionalHandle loop, std::uint32_t loop_stages) const {
        return {.n = n,
                .stride = stride,
                .parts_stride = blocks() * largest_part,
                .shadow = shadow.data(),
                .r = r.data(),
                .p = p.data(),
                .v = v.data(),
                .t = t.data(),
                .p_hat = p_hat(),
                .s_hat = s_hat(),
                .z = z.data(),
                .weights = weights,
                .diagonal = m != nullptr ? m->diagonal() : nullptr,
                .state = device_state.data(),
                .norms = device_norms.data(),
                .parts = parts.data(),
                .exact_parts = exact_parts.data(),
                .arrived = arrived.data(),
                .loop = loop,
                .loop_stages = loop_stages};
    }

    Gate gate(int j, Stage stage) const { return {&device_state.data()[j].stage, bit(stage)}; }

    Columns all_columns() const {
        constexpr std::int64_t stage_stride = sizeof(StepState<T>) / sizeof(StepState<T>::stage);
        return {columns, stride, stage_stride};
    }

    /// Blocks of a step's kernels: no more than are resident, unless a thread had to add up more than a chain may have.
    unsigned blocks() const {
        constexpr std::int64_t elements_a_block = step_threads * Pack<T>::size;
        const std::int64_t enough = (n + elements_a_block - 1) / elements_a_block;
        const std::int64_t resident = std::int64_t{step_blocks_per_multiprocessor} * traits.multiprocessors;
        const std::int64_t least = (n + step_threads * chain_length - 1) / (step_threads * chain_length);
        return static_cast<unsigned>(std::max<std::int64_t>({1, std::min(enough, resident), least}));
    }

    template <class Op>
    void launch(const StepMemory<T>& on, Stage stage) const {
        with_accumulator<T, StepAccumulatorsOf>(accuracy, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            const Grid grid{.blocks = blocks(), .threads = step_threads, .rows = static_cast<unsigned>(columns)};
            launch_after(traits.overlapping, step_kernel<Op, A>, grid, stream, Op::name, on, bit(stage));
        });
    }

    /// Warps with superaccumulators: few where there is little to add, for merging them takes long.
    unsigned rest_blocks() const {
        constexpr std::int64_t elements_a_warp = 1024;
        const std::int64_t most = std::min(2 * traits.multiprocessors, most_step_rest_blocks);
        return static_cast<unsigned>(std::clamp<std::int64_t>(n / elements_a_warp, 1, most));
    }

    template <class Op>
    void launch_rest(const StepMemory<T>& on) const {
        step_rest<Op><<<dim3(rest_blocks(), static_cast<unsigned>(columns)), warp_size, 0, stream>>>(on, bit(Op::rest));
        check_launch(Op::name);
    }

    /// A product and what Op makes of it, by superaccumulators where careful.
    template <class Op>
    void launch_product(const StepMemory<T>& on, const T* x, T* y, Stage stage, bool careful) const {
        a.multiply({.x = x, .y = y}, all_columns(), accuracy, stream, gate(0, stage));
        launch<Op>(on, stage);
        if (careful) launch_rest<Op>(on);
    }

    void precondition(const T* x, T* x_hat, Stage stage) {
        if (m != nullptr && (m->is_identity() || m->diagonal() != nullptr)) return;
        for (int j = 0; j < columns; ++j) {
            const std::int64_t place = j * stride;
            if (m == nullptr)
                precondition_on_host(x + place, x_hat + place);
            else
                m->apply(x + place, x_hat + place, accuracy, stream, gate(j, stage));
        }
    }

    /// Of whatever is in x, whether it is this kernel's turn or not: where it is not, nobody reads the result any more or it
    /// was there already.
    void precondition_on_host(const T* x, T* x_hat) {
        host_r.resize(static_cast<std::size_t>(n));
        host_z.resize(static_cast<std::size_t>(n));
        copy_to_host(host_r, x);
        m_on_host(host_r, host_z);
        detail::copy_to_device(device, x_hat, host_z.data(), n * static_cast<std::int64_t>(sizeof(T)), stream);
    }
    void copy_to_host(std::vector<T>& to, const T* from) const {
        detail::copy_to_host(device, to.data(), from, n * static_cast<std::int64_t>(sizeof(T)), stream);
    }

    /// Those for which a chain has kernels.
    static constexpr std::uint32_t stages_of(bool careful) { return careful ? ~bit(Stage::ended) : fast_stages; }

    /// A step from any stage on to its end.
    void launch_step(cudaGraphConditionalHandle loop, bool careful) {
        const StepMemory<T> on = memory(loop, stages_of(careful));
        if (careful) {
            launch<TakeRho<T>>(on, Stage::rho);
            launch_rest<TakeRho<T>>(on);
            launch<CheckRho<T>>(on, Stage::rho_terms);
            launch_rest<CheckRho<T>>(on);
        }
        launch<Direct<T>>(on, Stage::first);
        precondition(p.data(), p_hat(), Stage::first);
        launch_product<TakeV<T>>(on, p_hat(), v.data(), Stage::first, careful);
        launch<HalfStep<T>>(on, Stage::half);
        if (careful) launch_rest<HalfStep<T>>(on);
        precondition(r.data(), s_hat(), Stage::second);
        launch_product<TakeT<T>>(on, s_hat(), t.data(), Stage::second, careful);
        if (careful) {
            launch<CheckT<T>>(on, Stage::t_terms);
            launch_rest<CheckT<T>>(on);
        }
        if (weights != nullptr) {
            launch<FullStep<T, true>>(on, Stage::full);
            if (careful) launch_rest<FullStep<T, true>>(on);
        } else {
            launch<FullStep<T, false>>(on, Stage::full);
            if (careful) launch_rest<FullStep<T, false>>(on);
        }
        if (careful) launch<EndHalf<T>>(on, Stage::end_half);
    }

    const DeviceLoop& loop(bool careful) {
        std::unique_ptr<DeviceLoop>& which = careful ? careful_loop : fast_loop;
        if (!which)
            which = std::make_unique<DeviceLoop>(stream, [&](cudaGraphConditionalHandle handle) {
                for (int i = 0; i < steps_a_round; ++i) launch_step(handle, careful);
            });
        return *which;
    }

    bool is_at(int j, std::uint32_t stages) const { return (stages >> state[j].stage & 1) != 0; }
    bool is_under_way(int j) const { return column[j].is_asked && !is_at(j, bit(Stage::ended)); }

    template <class Condition>
    int count(const Condition& condition) const {
        int found = 0;
        for (int j = 0; j < columns; ++j) found += condition(j) ? 1 : 0;
        return found;
    }
    int under_way() const {
        return count([&](int j) { return is_under_way(j); });
    }

    /// Steps of one chain until a column arrives at a stage for which it has no kernel. Who looks, the device or the host,
    /// decides nothing else.
    void repeat_steps(bool careful) {
        if (loops_on_device) {
            loop(careful).launch(stream);
            return download();
        }
        const int wanted = under_way();
        do {
            launch_step(0, careful);
            download();
        } while (count([&](int j) { return is_at(j, stages_of(careful)); }) == wanted);
    }

    void forget_loops() {
        fast_loop.reset();
        careful_loop.reset();
    }

    void upload() { state.upload(device_state, stream); }
    void download() { state.download(device_state, stream); }

    std::int64_t steps_under_way() const {
        std::int64_t steps = 0;
        for (int j = 0; j < columns; ++j)
            if (column[j].is_asked) steps += state[j].steps;
        return steps;
    }

    /// Until a stretch has ended.
    void advance() {
        const int wanted = under_way();
        const auto has_ended = [&] { return under_way() < wanted; };
        upload();
        while (!has_ended()) {
            if (m == nullptr) {
                launch_step(0, true);
                download();
                continue;
            }
            if (8 * careful_steps * columns < steps_made + steps_under_way() + 64 * columns) {
                launch<TakeRho<T>>(memory(0, 0), Stage::rho);
                repeat_steps(false);
                if (has_ended()) return;
                ++careful_steps;
                launch_step(0, true);
                download();
            } else {
                repeat_steps(true);
            }
        }
    }

    void run() {
        if (under_way() == 0) return;
        advance();
        for (int j = 0; j < columns; ++j)
            if (column[j].is_asked && !is_under_way(j)) finish(j);
    }

    void finish(int j) {
        column[j].is_asked = false;
        const std::int64_t steps = state[j].steps;
        steps_made += steps;
        column[j].norms.resize(static_cast<std::size_t>(steps));
        device_norms.part(j * most_steps, steps).copy_to(column[j].norms, stream);
    }

    void ask(int j, const StepLimits& limits) {
        column[j].is_asked = true;
        StepState<T>& s = state[j];
        s.limits = limits;
        s.limits.max_steps = std::min(limits.max_steps, most_steps);
        s.steps = 0;
        s.watches_drift = weights != nullptr;
        s.stage = static_cast<std::int32_t>(Stage::rho);
    }
};

template <class T>
DeviceRecursion<T>::DeviceRecursion(int device, std::int64_t n, const SpmvPlan<T>& a, DevicePreconditioner<T>* m,
                                    HostPreconditioner<T> m_on_host, Accuracy accuracy, Stream stream, int columns) {
    const CurrentDevice current(device);
    chain_ = std::make_unique<Chain>(device, n, a, m, std::move(m_on_host), accuracy, stream, columns);
}

template <class T>
DeviceRecursion<T>::~DeviceRecursion() = default;

template <class T>
std::int64_t DeviceRecursion<T>::bytes_a_column(std::int64_t n) {
    return vectors_a_column * padded<T>(n) * static_cast<std::int64_t>(sizeof(T)) +
           exact_parts_a_column * static_cast<std::int64_t>(sizeof(ExactPart)) +
           most_steps * static_cast<std::int64_t>(sizeof(double));
}

template <class T>
const DeviceArray<T>& DeviceRecursion<T>::r(int column) const {
    return chain_->column[column].r;
}

template <class T>
const DeviceArray<T>& DeviceRecursion<T>::z(int column) const {
    return chain_->column[column].z;
}

template <class T>
void DeviceRecursion<T>::start(int column, const T* weights) {
    z(column).fill_with_zeros(chain_->stream);
    if (weights != chain_->weights) chain_->forget_loops();
    chain_->weights = weights;
}

template <class T>
void DeviceRecursion<T>::begin(int column, double r_norm, std::uint64_t seed) {
    const CurrentDevice current(chain_->device);
    const DeviceArray<T>& shadow = chain_->column[column].shadow;
    double shadow_norm = r_norm;
    if (seed == 0) {
        copy(r(column), shadow, chain_->stream);
    } else {
        fill_random(seed, shadow, chain_->stream);
        Reducer reducer(chain_->device);
        const DeviceArray<double> place(chain_->device, 1, "a norm");
        shadow_norm = norm2(reducer, shadow, chain_->accuracy, place, chain_->stream);
    }
    chain_->state[column].scalars.begin(r_norm, shadow_norm);
}

template <class T>
void DeviceRecursion<T>::continue_from_replaced(int column, double r_norm) {
    chain_->state[column].scalars.continue_from_replaced(r_norm);
}

template <class T>
void DeviceRecursion<T>::reset_drift(int column, double r_norm, double x_terms) {
    chain_->state[column].drift.reset(r_norm, x_terms);
}

template <class T>
void DeviceRecursion<T>::ask(int column, const StepLimits& limits) {
    chain_->ask(column, limits);
}

template <class T>
void DeviceRecursion<T>::run() {
    const CurrentDevice current(chain_->device);
    chain_->run();
}

template <class T>
bool DeviceRecursion<T>::has_ended(int column) const {
    return !chain_->column[column].is_asked;
}

template <class T>
Stretch DeviceRecursion<T>::stretch(int column) const {
    return chain_->state[column].stretch;
}

template <class T>
std::span<const double> DeviceRecursion<T>::norms(int column) const {
    return chain_->column[column].norms;
}

template class DeviceRecursion<float>;
template class DeviceRecursion<double>;

}  // namespace solver::cuda
