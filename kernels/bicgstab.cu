#include "bicgstab.hpp"

#include "bicgstab_step.cuh"
#include "check.cuh"
#include "device_loop.cuh"
#include "traits.hpp"
#include "vectors.hpp"

#include <algorithm>

namespace solver::cuda {
namespace {

/// Steps in one stretch at most: what is kept of their norms.
constexpr std::int64_t most_steps = 1 << 14;

/// Steps in the body of a loop: a round costs some microseconds.
constexpr int steps_a_round = 4;

/// In pinned memory, so that copies need no detour.
template <class T>
class Pinned {
public:
    Pinned() { check(cudaMallocHost(reinterpret_cast<void**>(&value_), sizeof(T)), "cudaMallocHost", "the state of a solve"); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(value_); }
    T* operator->() const { return value_; }
    T* get() const { return value_; }

private:
    T* value_ = nullptr;
};

}  // namespace

template <class T>
struct DeviceRecursion<T>::Chain {
    int device;
    std::int64_t n;
    const SpmvPlan<T>& a;
    DevicePreconditioner<T>* m;
    HostPreconditioner<T> m_on_host;
    Accuracy accuracy;
    Stream stream;
    Traits traits;
    bool loops_on_device;  ///< whether steps follow one another without the host

    DeviceArray<T> r, z, shadow, p, v, t, own_p_hat, own_s_hat;
    const T* weights = nullptr;
    DeviceArray<char> parts;
    DeviceArray<ExactPart> exact_parts;
    DeviceArray<unsigned> arrived;
    DeviceArray<StepState<T>> device_state;
    DeviceArray<double> device_norms;
    Pinned<StepState<T>> state;
    std::vector<double> norms;
    std::vector<T> host_r, host_z;  ///< for a preconditioner on the host

    std::unique_ptr<DeviceLoop> fast_loop, careful_loop;
    std::int64_t steps_made = 0;
    std::int64_t careful_steps = 0;

    Chain(int on_device, std::int64_t rows, const SpmvPlan<T>& plan, DevicePreconditioner<T>* preconditioner,
          HostPreconditioner<T> on_host, Accuracy mode, Stream on_stream)
        : device(on_device),
          n(rows),
          a(plan),
          m(preconditioner),
          m_on_host(std::move(on_host)),
          accuracy(mode),
          stream(on_stream),
          traits(traits_of(on_device)),
          loops_on_device(DeviceLoop::is_possible()),
          r(vector()),
          z(vector()),
          shadow(vector()),
          p(vector()),
          v(vector()),
          t(vector()),
          own_p_hat(is_identity() ? DeviceArray<T>() : vector()),
          own_s_hat(is_identity() ? DeviceArray<T>() : vector()),
          parts(on_device, blocks() * largest_part, "partial sums"),
          exact_parts(on_device, most_step_rest_blocks * most_step_sums, "exact partial sums"),
          arrived(on_device, 2, "counters"),
          device_state(on_device, 1, "the state of a solve"),
          device_norms(on_device, most_steps, "norms") {
        arrived.fill_with_zeros(stream);
        *state.get() = StepState<T>();
    }

    DeviceArray<T> vector() const {
        DeviceArray<T> x(device, n, "a vector of BiCGStab");
        x.fill_with_zeros(stream);
        return x;
    }

    bool is_identity() const { return m != nullptr && m->is_identity(); }
    T* p_hat() const { return is_identity() ? p.data() : own_p_hat.data(); }
    T* s_hat() const { return is_identity() ? r.data() : own_s_hat.data(); }

    StepMemory<T> memory(cudaGraphConditionalHandle loop, std::uint32_t loop_stages) const {
        return {.n = n,
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

    Gate gate(std::uint32_t stages) const { return {&device_state.data()->stage, stages}; }

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
            launch_after(traits.overlapping, step_kernel<Op, A>, blocks(), step_threads, stream, Op::name, on,
                         gate(bit(stage)));
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
        step_rest<Op><<<rest_blocks(), warp_size, 0, stream>>>(on, gate(bit(Op::rest)));
        check_launch(Op::name);
    }

    /// A product and what Op makes of it, by superaccumulators where careful.
    template <class Op>
    void launch_product(const StepMemory<T>& on, const T* x, T* y, Stage stage, bool careful) const {
        a.multiply({.x = x, .y = y}, accuracy, stream, gate(bit(stage)));
        launch<Op>(on, stage);
        if (careful) launch_rest<Op>(on);
    }

    void precondition(const T* x, T* x_hat, Stage stage) {
        if (m == nullptr) return precondition_on_host(x, x_hat);
        if (!m->is_identity() && m->diagonal() == nullptr) m->apply(x, x_hat, accuracy, stream, gate(bit(stage)));
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

    /// Steps of one chain until they arrive at a stage for which it has no kernel. Who looks, the device or the host, decides
    /// nothing else.
    void repeat_steps(bool careful) {
        if (loops_on_device) {
            loop(careful).launch(stream);
            return download();
        }
        do {
            launch_step(0, careful);
            download();
        } while ((stages_of(careful) >> state->stage & 1) != 0);
    }

    void forget_loops() {
        fast_loop.reset();
        careful_loop.reset();
    }

    void upload() {
        check(cudaMemcpyAsync(device_state.data(), state.get(), sizeof(StepState<T>), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync", "the state of a solve");
    }
    void download() {
        check(cudaMemcpyAsync(state.get(), device_state.data(), sizeof(StepState<T>), cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync", "the state of a solve");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "steps of a solve");
    }

    /// Until the stretch ends.
    void run() {
        const auto has_ended = [&] { return state->stage == static_cast<std::int32_t>(Stage::ended); };
        upload();
        while (!has_ended()) {
            if (m == nullptr) {
                launch_step(0, true);
                download();
                continue;
            }
            if (8 * careful_steps < steps_made + state->steps + 64) {
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

    Stretch advance(const StepLimits& limits) {
        state->limits = limits;
        state->limits.max_steps = std::min(limits.max_steps, most_steps);
        state->steps = 0;
        state->watches_drift = weights != nullptr;
        state->stage = static_cast<std::int32_t>(Stage::rho);
        run();
        steps_made += state->steps;
        norms.resize(static_cast<std::size_t>(state->steps));
        device_norms.copy_to(norms, stream);
        return state->stretch;
    }
};

template <class T>
DeviceRecursion<T>::DeviceRecursion(int device, std::int64_t n, const SpmvPlan<T>& a, DevicePreconditioner<T>* m,
                                    HostPreconditioner<T> m_on_host, Accuracy accuracy, Stream stream) {
    const CurrentDevice current(device);
    chain_ = std::make_unique<Chain>(device, n, a, m, std::move(m_on_host), accuracy, stream);
}

template <class T>
DeviceRecursion<T>::~DeviceRecursion() = default;

template <class T>
const DeviceArray<T>& DeviceRecursion<T>::r() const {
    return chain_->r;
}

template <class T>
const DeviceArray<T>& DeviceRecursion<T>::z() const {
    return chain_->z;
}

template <class T>
void DeviceRecursion<T>::start(const T* weights) {
    chain_->z.fill_with_zeros(chain_->stream);
    if (weights != chain_->weights) chain_->forget_loops();
    chain_->weights = weights;
}

template <class T>
void DeviceRecursion<T>::begin(double r_norm, std::uint64_t seed) {
    const CurrentDevice current(chain_->device);
    double shadow_norm = r_norm;
    if (seed == 0) {
        copy(chain_->r, chain_->shadow, chain_->stream);
    } else {
        fill_random(seed, chain_->shadow, chain_->stream);
        Reducer reducer(chain_->device);
        shadow_norm = norm2(reducer, chain_->shadow, chain_->accuracy, chain_->stream);
    }
    chain_->state->scalars.begin(r_norm, shadow_norm);
}

template <class T>
void DeviceRecursion<T>::continue_from_replaced(double r_norm) {
    chain_->state->scalars.continue_from_replaced(r_norm);
}

template <class T>
void DeviceRecursion<T>::reset_drift(double r_norm, double x_terms) {
    chain_->state->drift.reset(r_norm, x_terms);
}

template <class T>
Stretch DeviceRecursion<T>::advance(const StepLimits& limits) {
    const CurrentDevice current(chain_->device);
    return chain_->advance(limits);
}

template <class T>
std::span<const double> DeviceRecursion<T>::norms() const {
    return chain_->norms;
}

template class DeviceRecursion<float>;
template class DeviceRecursion<double>;

}  // namespace solver::cuda
