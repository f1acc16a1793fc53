#pragma once

/// How long operations take on data that lie on a CUDA device: what is judged goes through the functions for the host's data,
/// whose time is that of the copies.

#include "solver/cuda.hpp"
#include "solver/cuda/gemm.hpp"
#include "solver/cuda/triangular_solve.hpp"
#include "timing.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver::blas2::on_device {

/// The seconds of one call, from as many in a row as take 0.2 ms; waits for all of them at the end.
inline double seconds_of_launch(int device, cuda::Stream stream, const std::function<void()>& launch) {
    const auto seconds = [&](int calls) { return seconds_of_calls(calls, launch, [&] { cuda::synchronize(device, stream); }); };
    constexpr double enough = 2e-4;
    seconds(1);
    const double once = seconds(1);
    return once >= enough ? once : seconds(static_cast<int>(std::clamp(enough / once, 1.0, 200.0)));
}

/// A clock that is wound up at its first use: `Work(arguments...)` has run(accuracy) and stream().
template <class Work, class Make>
std::function<double(Accuracy)> clock(int device, Make make) {
    auto work = std::make_shared<std::unique_ptr<Work>>();
    return [device, work, make = std::move(make)](Accuracy accuracy) {
        if (!*work) *work = make();
        return seconds_of_launch(device, (*work)->stream(), [&] { (*work)->run(accuracy); });
    };
}

/// y = alpha A (x + x_low) + beta y_in
template <class T>
class Product {
public:
    Product(int device, const CsrView<T>& a, SpmvKernel kernel, const SpmvTask<T>& task)
        : stream_(device),
          a_(device, a, stream_.get()),
          plan_(a_.view(), kernel, stream_.get()),
          x_(device, task.x, "x", stream_.get()),
          x_low_(device, task.x_low, "x_low", stream_.get()),
          y_in_(device, task.beta == 0 ? std::span<const T>() : task.y_in, "y", stream_.get()),
          y_(device, a.rows, "A x"),
          task_{.alpha = task.alpha,
                .x = x_.data(),
                .x_low = task.x_low.empty() ? nullptr : x_low_.data(),
                .beta = task.beta,
                .y_in = y_in_.data(),
                .y = y_.data()} {}

    void run(Accuracy accuracy) { plan_.multiply(task_, accuracy, stream_.get()); }
    cuda::Stream stream() const { return stream_.get(); }

private:
    cuda::OwnedStream stream_;
    cuda::DeviceCsrMatrix<T> a_;
    cuda::SpmvPlan<T> plan_;
    cuda::DeviceArray<T> x_, x_low_, y_in_, y_;
    cuda::RowTask<T> task_;
};

/// Several reductions one after another, of x or of x and y.
template <class T>
class Reductions {
public:
    using Vectors = std::pair<std::span<const T>, std::span<const T>>;

    Reductions(int device, cuda::Reduction kind, const std::vector<Vectors>& vectors)
        : stream_(device), reducer_(device), kind_(kind), result_(device, 1, "the result") {
        for (const auto& [x, y] : vectors) {
            x_.emplace_back(device, x, "x", stream_.get());
            y_.emplace_back(device, y, "y", stream_.get());
        }
    }

    void run(Accuracy accuracy) {
        for (std::size_t i = 0; i < x_.size(); ++i)
            reducer_.reduce(kind_, x_[i].size(), x_[i].data(), y_[i].data(), accuracy, result_.data(), stream_.get());
    }
    cuda::Stream stream() const { return stream_.get(); }

private:
    cuda::OwnedStream stream_;
    cuda::Reducer reducer_;
    cuda::Reduction kind_;
    std::vector<cuda::DeviceArray<T>> x_, y_;
    cuda::DeviceArray<T> result_;
};

template <class T>
class Triangular {
public:
    Triangular(int device, const CsrView<T>& t, Triangle triangle, std::span<const T> b)
        : stream_(device),
          plan_(device, t, triangle, Diagonal::stored),
          b_(device, b, "b", stream_.get()),
          x_(device, t.rows, "x") {}

    void run(Accuracy accuracy) { plan_.solve(b_.data(), x_.data(), accuracy, stream_.get()); }
    cuda::Stream stream() const { return stream_.get(); }

private:
    cuda::OwnedStream stream_;
    cuda::TriangularSolvePlan<T> plan_;
    cuda::DeviceArray<T> b_, x_;
};

/// C = alpha A B + beta C, whose C changes from call to call, all column by column.
template <class T>
class DenseProduct {
public:
    DenseProduct(int device, const GemmTask<T>& task, std::span<const T> c)
        : stream_(device),
          multiplier_(device),
          a_(device, std::span(task.a.data, static_cast<std::size_t>(task.a.rows * task.a.columns)), "A", stream_.get()),
          b_(device, std::span(task.b.data, static_cast<std::size_t>(task.b.rows * task.b.columns)), "B", stream_.get()),
          c_(device, c, "C", stream_.get()),
          task_(task) {
        task_.a.data = a_.data();
        task_.b.data = b_.data();
        task_.c.data = c_.data();
    }

    void run(Accuracy accuracy) { multiplier_.gemm(task_, accuracy, {}, stream_.get()); }
    cuda::Stream stream() const { return stream_.get(); }

private:
    cuda::OwnedStream stream_;
    cuda::Multiplier multiplier_;
    cuda::DeviceArray<T> a_, b_, c_;
    GemmTask<T> task_;
};

}  // namespace solver::blas2::on_device
