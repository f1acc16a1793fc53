#include "reduce/complex.cuh"
#include "reduce/dots.cuh"
#include "reduce/reduce.cuh"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace solver::cuda {
namespace {

template <class T>
ComplexOperands<T> operands(ComplexReduction reduction, std::int64_t n, const std::complex<T>* x, const std::complex<T>* y) {
    return {n, reinterpret_cast<const T*>(x), reinterpret_cast<const T*>(y), reduction == ComplexReduction::dot};
}

/// work(std::integral_constant) with the real reduction that makes each part.
template <class Work>
void with_reduction_of_parts(ComplexReduction reduction, const Work& work) {
    if (reduction == ComplexReduction::sum)
        work(std::integral_constant<Reduction, Reduction::sum>());
    else
        work(std::integral_constant<Reduction, Reduction::dot>());
}

}  // namespace

struct Reducer::Workspace {
    int device;
    Traits traits;
    DeviceArray<SeveralParts<AnchoredTriple, most_in_group>> parts;  ///< the largest of their kind
    DeviceArray<ExactPart> exact_parts;
    DeviceArray<Counters> counters;

    explicit Workspace(int on_device)
        : device(on_device),
          traits(traits_of(on_device)),
          parts(on_device, most_blocks, "partial sums"),
          exact_parts(on_device, most_exact_blocks + most_dots, "exact partial sums"),
          counters(on_device, 1, "counters of a reduction") {
        counters.fill_with_zeros();
        synchronize(device, nullptr);
    }

    /// Blocks with superaccumulators: few where there is little to add, for merging them takes long.
    template <class Kernel>
    unsigned exact_blocks(const Kernel& kernel, int threads, std::int64_t n) const {
        constexpr std::int64_t elements_a_thread = 32;
        const std::int64_t most = std::min(resident_blocks(kernel, threads, traits), most_exact_blocks);
        return static_cast<unsigned>(std::clamp<std::int64_t>(n / (elements_a_thread * threads), 1, most));
    }

    /// Of each of the groups of products that one launch makes. Together they fill the device once: merging the sums of more
    /// blocks would take as long as adding up. Long vectors have so many more that no sum's h exceeds 1024 for it.
    template <class Kernel>
    unsigned blocks_of_group(const Kernel& kernel, std::int64_t n, int pack_size, std::int64_t groups) const {
        constexpr std::int64_t most_chains = 512;  // of a thread
        const std::int64_t enough = n / (most_chains * chain_length * reduce_threads) + 1;
        const std::int64_t at_once = std::min<std::int64_t>(resident_blocks(kernel, reduce_threads, traits), most_blocks);
        const std::int64_t share = std::clamp(enough, at_once / groups, most_blocks / groups);
        return static_cast<unsigned>(std::min<std::int64_t>(blocks_of_pass(kernel, n, pack_size, traits), share));
    }

    template <class Parts>
    Parts* parts_as() const {
        static_assert(sizeof(Parts) <= sizeof(SeveralParts<AnchoredTriple, most_in_group>));
        return reinterpret_cast<Parts*>(parts.data());
    }

    template <Reduction reduction, Summation A, class T>
    void launch(const Operands<T>& in, T* result, Stream stream) {
        auto* const its_parts = parts_as<Part<A>>();
        const auto kernel = reduce_all<reduction, A, T>;
        launch_after(traits.overlapping, kernel, blocks_of_pass(kernel, in.n, Pack<T>::size, traits), reduce_threads, stream,
                     "reduce_all", in, its_parts, counters.data(), result);
        if constexpr (A::is_filter) {
            const auto rest = round_rest<reduction, T>;
            constexpr int threads = exact_threads<reduction, T>;
            launch_after(traits.overlapping, rest, exact_blocks(rest, threads, in.n), threads, stream, "round_rest", in,
                         exact_parts.data(), counters.data(), result);
        } else if constexpr (reduction == Reduction::norm2) {
            const auto rest = scale_rest<A, T>;
            launch_after(traits.overlapping, rest, blocks_of_pass(rest, in.n, 1, traits), reduce_threads, stream, "scale_rest",
                         in, its_parts, counters.data(), result);
        }
    }

    template <class T>
    void reduce(Reduction reduction, const Operands<T>& in, Accuracy accuracy, T* result, Stream stream) {
        const CurrentDevice current(device);
        with_accumulator<T, TermsOnGpu>(accuracy, traits.float_sums, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            switch (reduction) {
                case Reduction::sum:
                    return launch<Reduction::sum, A>(in, result, stream);
                case Reduction::dot:
                    return launch<Reduction::dot, A>(in, result, stream);
                case Reduction::norm2:
                    return launch<Reduction::norm2, A>(in, result, stream);
            }
        });
    }

    template <int count, class T>
    void dots_by_groups(const ManyDots<T>& in, Accuracy accuracy, T* results, Stream stream) {
        with_accumulator<T, TermsOnGpu>(accuracy, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            const auto kernel = dots_all<A, T, count>;
            const auto groups = static_cast<unsigned>((in.products + count - 1) / count);
            const Grid grid{
                .blocks = blocks_of_group(kernel, in.n, Pack<T>::size, groups), .threads = reduce_threads, .rows = groups};
            launch_after(traits.overlapping, kernel, grid, stream, "dots_all", in, parts_as<SeveralParts<A, count>>(),
                         counters.data(), results);
            if constexpr (A::is_filter) {
                constexpr int threads = exact_threads<Reduction::dot, T>;
                const auto products = static_cast<unsigned>(in.products);
                const unsigned blocks = (exact_blocks(dots_rest<T>, threads, in.n) + products - 1) / products;
                const Grid rest{.blocks = blocks, .threads = threads, .rows = products};
                launch_after(traits.overlapping, dots_rest<T>, rest, stream, "dots_rest", in, exact_parts.data(),
                             counters.data(), results);
            }
        });
    }

    template <class T>
    static ManyDots<T> many_dots(std::int64_t n, std::span<const Factors<T>> of) {
        if (of.size() > most_dots)
            throw InvalidArgument("dot products by one launch: " + std::to_string(of.size()) + " asked for, at most " +
                                  std::to_string(most_dots) + " are possible");
        ManyDots<T> in{n, static_cast<int>(of.size()), false, {}, {}};
        for (std::size_t q = 0; q < of.size(); ++q) {
            in.x[q] = of[q].x;
            in.y[q] = of[q].y;
        }
        return in;
    }

    template <class T>
    void dots_and_norm2(std::int64_t n, std::span<const Factors<T>> of, const T* x, Accuracy accuracy, T* results,
                        Stream stream) {
        std::vector<Factors<T>> all(of.begin(), of.end());
        all.push_back({x, x});
        ManyDots<T> in = many_dots<T>(n, all);
        if (accuracy == Accuracy::exact) {
            in.root_of_last = true;
        } else {  // squares may leave the range, which only a norm watches
            reduce(Reduction::norm2, Operands<T>{n, x, nullptr}, accuracy, results + of.size(), stream);
            --in.products;
        }
        dots(in, accuracy, results, stream);
    }

    template <class T>
    void dots(const ManyDots<T>& in, Accuracy accuracy, T* results, Stream stream) {
        if (in.products == 0) return;
        const CurrentDevice current(device);
        if (in.products == 1) {
            const Reduction only = in.root_of_last ? Reduction::norm2 : Reduction::dot;
            return reduce(only, Operands<T>{in.n, in.x[0], in.y[0]}, accuracy, results, stream);
        }
        const int groups = (in.products + most_in_group - 1) / most_in_group;
        const int in_group = (in.products + groups - 1) / groups;
        if (in_group == 2) return dots_by_groups<2>(in, accuracy, results, stream);
        if (in_group == 3) return dots_by_groups<3>(in, accuracy, results, stream);
        dots_by_groups<most_in_group>(in, accuracy, results, stream);
    }

    template <class T>
    void expand(Reduction reduction, const Operands<T>& in, Expansion<T>* result, Stream stream) {
        if (reduction == Reduction::norm2)
            throw InvalidArgument("expansion of norm2: a root has no finite expansion; ask for the dot product of x and x");
        const CurrentDevice current(device);
        const auto launch = [&]<Reduction kind>(std::integral_constant<Reduction, kind>) {
            const auto kernel = expand_all<kind, T>;
            constexpr int threads = exact_threads<kind, T>;
            kernel<<<exact_blocks(kernel, threads, in.n), threads, 0, stream>>>(in, exact_parts.data(), counters.data(),
                                                                                result);
        };
        if (reduction == Reduction::sum)
            launch(std::integral_constant<Reduction, Reduction::sum>());
        else
            launch(std::integral_constant<Reduction, Reduction::dot>());
        check_launch("expand_all");
    }

    /// Of a kernel that sums each part of a complex result by a row of blocks.
    template <class Kernel>
    Grid exact_grid_of_parts(const Kernel& kernel, int threads, std::int64_t terms) const {
        const unsigned of_part = (exact_blocks(kernel, threads, terms) + 1) / 2;
        return {.blocks = of_part, .threads = static_cast<unsigned>(threads), .rows = 2};
    }

    template <Reduction reduction, Summation A, class T>
    void launch_both_parts(const ComplexOperands<T>& in, T* result, Stream stream) {
        const auto kernel = reduce_numbers<reduction, A, T>;
        launch_after(traits.overlapping, kernel, blocks_of_pass(kernel, 2 * in.n, Pack<T>::size, traits), reduce_threads,
                     stream, "reduce_numbers", in, parts_as<SeveralParts<A, 2>>(), counters.data(), result);
        if constexpr (A::is_filter) {
            const auto rest = round_parts<reduction, T>;
            const Grid grid = exact_grid_of_parts(rest, exact_threads<reduction, T>, terms_of_part<reduction>(in.n));
            launch_after(traits.overlapping, rest, grid, stream, "round_parts", in, exact_parts.data(), counters.data(),
                         result);
        }
    }

    template <class T>
    void reduce(ComplexReduction reduction, std::int64_t n, const std::complex<T>* x, const std::complex<T>* y,
                Accuracy accuracy, std::complex<T>* result, Stream stream) {
        const CurrentDevice current(device);
        with_accumulator<T, TermsOnGpu>(accuracy, traits.float_sums, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            with_reduction_of_parts(reduction, [&](auto kind) {
                launch_both_parts<kind.value, A>(operands(reduction, n, x, y), reinterpret_cast<T*>(result), stream);
            });
        });
    }

    template <class T>
    void expand(ComplexReduction reduction, std::int64_t n, const std::complex<T>* x, const std::complex<T>* y,
                ComplexExpansion<T>* result, Stream stream) {
        const CurrentDevice current(device);
        with_reduction_of_parts(reduction, [&](auto kind) {
            const auto kernel = expand_parts<kind.value, T>;
            const Grid grid = exact_grid_of_parts(kernel, exact_threads<kind.value, T>, terms_of_part<kind.value>(n));
            launch_after(traits.overlapping, kernel, grid, stream, "expand_parts", operands(reduction, n, x, y),
                         exact_parts.data(), counters.data(), result);
        });
    }
};

Reducer::Reducer(int device) : workspace_(std::make_unique<Workspace>(device)) {}
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;

void Reducer::reduce(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, double* result,
                     Stream stream) {
    workspace_->reduce(reduction, Operands<double>{n, x, y}, accuracy, result, stream);
}
void Reducer::reduce(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, float* result,
                     Stream stream) {
    workspace_->reduce(reduction, Operands<float>{n, x, y}, accuracy, result, stream);
}
void Reducer::dots(std::int64_t n, std::span<const Factors<double>> of, Accuracy accuracy, double* results, Stream stream) {
    workspace_->dots(Workspace::many_dots<double>(n, of), accuracy, results, stream);
}
void Reducer::dots(std::int64_t n, std::span<const Factors<float>> of, Accuracy accuracy, float* results, Stream stream) {
    workspace_->dots(Workspace::many_dots<float>(n, of), accuracy, results, stream);
}
void Reducer::dots_and_norm2(std::int64_t n, std::span<const Factors<double>> of, const double* x, Accuracy accuracy,
                             double* results, Stream stream) {
    workspace_->dots_and_norm2(n, of, x, accuracy, results, stream);
}
void Reducer::dots_and_norm2(std::int64_t n, std::span<const Factors<float>> of, const float* x, Accuracy accuracy,
                             float* results, Stream stream) {
    workspace_->dots_and_norm2(n, of, x, accuracy, results, stream);
}
void Reducer::expand(Reduction reduction, std::int64_t n, const double* x, const double* y, Expansion<double>* result,
                     Stream stream) {
    workspace_->expand(reduction, Operands<double>{n, x, y}, result, stream);
}
void Reducer::expand(Reduction reduction, std::int64_t n, const float* x, const float* y, Expansion<float>* result,
                     Stream stream) {
    workspace_->expand(reduction, Operands<float>{n, x, y}, result, stream);
}
void Reducer::reduce(ComplexReduction reduction, std::int64_t n, const std::complex<double>* x, const std::complex<double>* y,
                     Accuracy accuracy, std::complex<double>* result, Stream stream) {
    workspace_->reduce(reduction, n, x, y, accuracy, result, stream);
}
void Reducer::reduce(ComplexReduction reduction, std::int64_t n, const std::complex<float>* x, const std::complex<float>* y,
                     Accuracy accuracy, std::complex<float>* result, Stream stream) {
    workspace_->reduce(reduction, n, x, y, accuracy, result, stream);
}
void Reducer::expand(ComplexReduction reduction, std::int64_t n, const std::complex<double>* x, const std::complex<double>* y,
                     ComplexExpansion<double>* result, Stream stream) {
    workspace_->expand(reduction, n, x, y, result, stream);
}
void Reducer::expand(ComplexReduction reduction, std::int64_t n, const std::complex<float>* x, const std::complex<float>* y,
                     ComplexExpansion<float>* result, Stream stream) {
    workspace_->expand(reduction, n, x, y, result, stream);
}

}  // namespace solver::cuda
