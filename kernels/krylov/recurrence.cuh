#pragma once

/// What runs the steps of any method on a CUDA device: memory, chains of kernels, loops.

#include "krylov.hpp"
#include "krylov/step.cuh"
#include "preconditioner.hpp"
#include "runtime/check.cuh"
#include "runtime/device_loop.cuh"
#include "runtime/pinned.cuh"
#include "runtime/traits.hpp"

#include <algorithm>

namespace solver::cuda {

/// Steps in the body of a loop whose kernels are few: a round costs some microseconds. The kernels of those steps that come
/// after the end of a stretch find their gates closed, and are launched all the same.
inline constexpr int steps_a_round = 4;

/// From a vector to the next one, so that all begin as allocated memory does.
template <class T>
constexpr std::int64_t padded(std::int64_t n) {
    constexpr auto line = static_cast<std::int64_t>(256 / sizeof(T));
    return (n + line - 1) / line * line;
}

inline constexpr std::int64_t exact_parts_a_column = most_step_rest_blocks * most_step_sums;

template <class Scalars>
struct DeviceRecurrence<Scalars>::Chain {
    using T = Value;
    using Method = Steps<Scalars>;
    using Stage = typename Method::Stage;
    using Memory = StepMemory<Scalars>;
    using State = StepState<Scalars>;

    /// What the host knows of one.
    struct Column {
        DeviceArray<T> r, z;  ///< parts
        std::vector<double> norms;
        bool is_asked = false;
    };

    int device;
    std::int64_t n;
    const MatrixProducts<T>& a;
    DevicePreconditioner<T>* m = nullptr;
    HostPreconditioner<T> m_on_host;
    Accuracy accuracy;
    Stream stream;
    Traits traits;
    int columns;           ///< in use
    std::int64_t stride;   ///< from one column of a vector to the next
    bool loops_on_device;  ///< whether steps follow one another without the host

    std::vector<DeviceArray<T>> own_arrays, preconditioned_arrays;
    typename Method::Vectors vectors{};  ///< in these
    const T* weights = nullptr;
    DeviceArray<char> parts;
    DeviceArray<ExactPart> exact_parts;
    DeviceArray<unsigned> arrived;
    DeviceArray<State> device_state;
    DeviceArray<double> device_norms;
    Pinned<State> state;
    std::vector<Column> column;
    std::vector<T> host_r, host_z;  ///< for a preconditioner on the host

    std::unique_ptr<DeviceLoop> fast_loop, careful_loop;
    std::int64_t steps_made = 0;
    std::int64_t careful_steps = 0;

    Chain(int on_device, std::int64_t rows, const MatrixProducts<T>& plan, Accuracy mode, Stream on_stream, int most_at_once)
        : device(on_device),
          n(rows),
          a(plan),
          accuracy(mode),
          stream(on_stream),
          traits(traits_of(on_device)),
          columns(most_at_once),
          stride(padded<T>(rows)),
          loops_on_device(DeviceLoop::is_possible()),
          parts(on_device, columns * blocks() * largest_part, "partial sums"),
          exact_parts(on_device, columns * exact_parts_a_column, "exact partial sums"),
          arrived(on_device, columns * 2, "counters"),
          device_state(on_device, columns, "the state of a solve"),
          device_norms(on_device, columns * most_steps, "norms"),
          state("the state of a solve", columns),
          column(static_cast<std::size_t>(columns)) {
        arrived.fill_with_zeros(stream);
        vectors.own([&](T*& vector) { vector = new_vector(own_arrays); });
        for (int j = 0; j < columns; ++j) {
            column[j].r = array(vectors.r, j);
            column[j].z = array(vectors.z, j);
        }
    }

    /// Of zeros, for all columns.
    T* new_vector(std::vector<DeviceArray<T>>& arrays) const {
        arrays.emplace_back(device, static_cast<std::int64_t>(column.size()) * stride, "a vector of a Krylov method");
        arrays.back().fill_with_zeros(stream);
        return arrays.back().data();
    }

    /// A column of one of the vectors.
    DeviceArray<T> array(const T* vector, int j) const {
        for (const DeviceArray<T>& all : own_arrays)
            if (all.data() == vector) return all.part(j * stride, n);
        return {};
    }

    bool is_identity() const { return m != nullptr && m->is_identity(); }
    const T* diagonal() const { return m != nullptr ? m->diagonal() : nullptr; }

    /// Whether M^-1 r is a matter of one element at a time, which the steps' own kernels see to.
    bool preconditions_by_elements() const { return is_identity() || diagonal() != nullptr; }

    /// Everything begins anew, with another preconditioner and so many columns.
    void precondition(DevicePreconditioner<T>* on_device, HostPreconditioner<T> on_host, int at_once) {
        forget_loops();
        m = on_device;
        m_on_host = std::move(on_host);
        columns = at_once;
        steps_made = careful_steps = 0;
        for (std::size_t j = 0; j < column.size(); ++j) {
            column[j].is_asked = false;
            state[static_cast<int>(j)] = State();
        }
        if (is_identity()) return vectors.alias_preconditioned();
        std::size_t used = 0;
        vectors.preconditioned([&](T*& vector) {
            vector =
                used < preconditioned_arrays.size() ? preconditioned_arrays[used].data() : new_vector(preconditioned_arrays);
            ++used;
        });
    }

    Memory memory(cudaGraphConditionalHandle loop, std::uint32_t loop_stages) const {
        Memory on{};
        static_cast<typename Method::Vectors&>(on) = vectors;
        on.n = n;
        on.stride = stride;
        on.parts_stride = blocks() * largest_part;
        on.weights = weights;
        on.diagonal = diagonal();
        on.state = device_state.data();
        on.norms = device_norms.data();
        on.parts = parts.data();
        on.exact_parts = exact_parts.data();
        on.arrived = arrived.data();
        on.loop = loop;
        on.loop_stages = loop_stages;
        return on;
    }

    Gate gate(int j, Stage stage) const { return {&device_state.data()[j].stage, bit(stage)}; }

    Columns all_columns() const {
        constexpr std::int64_t stage_stride = sizeof(State) / sizeof(State::stage);
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
    void launch(const Memory& on, Stage stage) const {
        with_accuracy(accuracy, [&](auto mode) {
            using A = StepAccumulators<T, mode.value>;
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
    void launch_rest(const Memory& on) const {
        step_rest<Op><<<dim3(rest_blocks(), static_cast<unsigned>(columns)), warp_size, 0, stream>>>(on, bit(Op::rest));
        check_launch(Op::name);
    }

    /// With superaccumulators for what the filters cannot certify, where careful.
    template <class Op>
    void launch_carefully(const Memory& on, Stage stage, bool careful) const {
        launch<Op>(on, stage);
        if (careful) launch_rest<Op>(on);
    }

    void multiply(const T* x, T* y, Stage stage) const { multiply(x, y, stage, accuracy); }
    /// Compensated at least.
    void multiply_accurately(const T* x, T* y, Stage stage) const {
        multiply(x, y, stage, accuracy == Accuracy::exact ? accuracy : Accuracy::compensated);
    }
    void multiply(const T* x, T* y, Stage stage, Accuracy mode) const {
        a.multiply({.x = x, .y = y}, all_columns(), mode, stream, gate(0, stage));
    }

    /// x_hat = M^-1 x, unless the steps' own kernels see to it.
    void apply(const T* x, T* x_hat, Stage stage) {
        if (preconditions_by_elements()) return;
        for (int j = 0; j < columns; ++j) {
            const std::int64_t place = j * stride;
            if (m == nullptr)
                precondition_on_host(x + place, x_hat + place);
            else
                apply_if_open(*m, x + place, x_hat + place, accuracy, stream, gate(j, stage));
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
    std::uint32_t stages_of(bool careful) const { return careful ? ~bit(Stage::ended) : Method::fast_stages(*this); }

    /// A step from any stage on to its end.
    void launch_step(cudaGraphConditionalHandle loop, bool careful) {
        Method::launch_step(*this, memory(loop, stages_of(careful)), careful);
    }

    const DeviceLoop& loop(bool careful) {
        std::unique_ptr<DeviceLoop>& which = careful ? careful_loop : fast_loop;
        if (!which)
            which = std::make_unique<DeviceLoop>(stream, [&](cudaGraphConditionalHandle handle) {
                const int steps = preconditions_by_elements() ? steps_a_round : 1;
                for (int i = 0; i < steps; ++i) launch_step(handle, careful);
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
            if (CarefulSteps::one_in * careful_steps * columns <
                steps_made + steps_under_way() + CarefulSteps::free * columns) {
                Method::launch_start(*this, memory(0, 0));
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
        State& s = state[j];
        s.limits = limits;
        s.limits.max_steps = std::min(limits.max_steps, most_steps);
        s.steps = 0;
        s.watches_drift = weights != nullptr;
        s.stage = static_cast<std::int32_t>(Method::start);
    }
};

template <class Scalars>
DeviceRecurrence<Scalars>::DeviceRecurrence(int device, std::int64_t n, const MatrixProducts<Value>& a, Accuracy accuracy,
                                            Stream stream, int columns) {
    const CurrentDevice current(device);
    chain_ = std::make_unique<Chain>(device, n, a, accuracy, stream, columns);
}

template <class Scalars>
DeviceRecurrence<Scalars>::~DeviceRecurrence() = default;

template <class Scalars>
std::int64_t DeviceRecurrence<Scalars>::bytes_a_column(std::int64_t n) {
    std::int64_t vectors = 0;
    const auto count = [&](Value*&) { ++vectors; };
    typename Steps<Scalars>::Vectors all{};
    all.own(count);
    all.preconditioned(count);
    return vectors * padded<Value>(n) * static_cast<std::int64_t>(sizeof(Value)) +
           exact_parts_a_column * static_cast<std::int64_t>(sizeof(ExactPart)) +
           most_steps * static_cast<std::int64_t>(sizeof(double));
}

template <class Scalars>
void DeviceRecurrence<Scalars>::precondition(DevicePreconditioner<Value>* m, HostPreconditioner<Value> m_on_host, int columns) {
    const CurrentDevice current(chain_->device);
    chain_->precondition(m, std::move(m_on_host), columns);
}

template <class Scalars>
auto DeviceRecurrence<Scalars>::r(int column) -> DeviceArray<Value>& {
    return chain_->column[column].r;
}

template <class Scalars>
auto DeviceRecurrence<Scalars>::z(int column) -> DeviceArray<Value>& {
    return chain_->column[column].z;
}

template <class Scalars>
void DeviceRecurrence<Scalars>::start(int column, const Value* weights) {
    z(column).fill_with_zeros(chain_->stream);
    if (weights != chain_->weights) chain_->forget_loops();
    chain_->weights = weights;
}

template <class Scalars>
void DeviceRecurrence<Scalars>::begin(int column, double r_norm, std::uint64_t seed) {
    const CurrentDevice current(chain_->device);
    Steps<Scalars>::begin(*chain_, column, r_norm, seed);
}

template <class Scalars>
void DeviceRecurrence<Scalars>::continue_from_replaced(int column, double r_norm) {
    chain_->state[column].scalars.continue_from_replaced(r_norm);
}

template <class Scalars>
void DeviceRecurrence<Scalars>::reset_drift(int column, double r_norm, double x_terms) {
    chain_->state[column].drift.reset(r_norm, x_terms);
}

template <class Scalars>
void DeviceRecurrence<Scalars>::ask(int column, const StepLimits& limits) {
    chain_->ask(column, limits);
}

template <class Scalars>
void DeviceRecurrence<Scalars>::run() {
    const CurrentDevice current(chain_->device);
    chain_->run();
}

template <class Scalars>
bool DeviceRecurrence<Scalars>::has_ended(int column) const {
    return !chain_->column[column].is_asked;
}

template <class Scalars>
Stretch DeviceRecurrence<Scalars>::stretch(int column) const {
    return chain_->state[column].stretch;
}

template <class Scalars>
std::span<const double> DeviceRecurrence<Scalars>::norms(int column) const {
    return chain_->column[column].norms;
}

}  // namespace solver::cuda
