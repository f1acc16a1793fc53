/// Sums, dot products and norms of vectors on a CUDA device.

#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "tools/bench/reductions.hpp"

#include <memory>

namespace solver::bench::on_cuda {
namespace {

cuda::Reduction reduction_of(Subject subject) {
    if (subject == Subject::dot) return cuda::Reduction::dot;
    return subject == Subject::sum ? cuda::Reduction::sum : cuda::Reduction::norm2;
}

/// One reduction of one input by everybody; the result stays on the device.
template <class T>
class Reductions {
public:
    Reductions(const Options& options, Input input, std::int64_t n)
        : subject_(options.subject),
          n_(n),
          data_(make_data<T>(options, input, n)),
          parameters_(parameters_of<T>(input, n)),
          heading_(heading_of(options, input, data_)),
          device_(options.cuda_device.value()),
          stream_(device_),
          x_(device_, data_.x, "x", stream_),
          y_(device_, data_.y, "y", stream_),
          result_(device_, 1, "result"),
          exact_(device_, std::vector<T>{exact_result(subject_, data_, options.threads)}, "exact result", stream_),
          reducer_(device_),
          blas_(Scalars::on_device, stream_),
          cub_(device_, n) {}

    void run(Report& report) {
        Contest contest{.parameters = parameters_, .heading = heading_};
        for (const Accuracy accuracy : all_accuracies)
            contest.competitors.push_back(competitor(std::string(to_string(accuracy)), [this, accuracy] {
                reducer_.reduce(reduction_of(subject_), n_, x_.data(), y_.data(), accuracy, result_.data(), stream_);
            }));
        contest.must_be_exact = contest.competitors.size() - 1;
        contest.peers = {contest.competitors.size()};
        contest.competitors.push_back(peer());
        report.run(contest);
    }

private:
    Competitor peer() {
        if (subject_ == Subject::sum) return competitor("cub", [this] { cub_.sum(x_.data(), result_.data(), stream_); });
        if (subject_ == Subject::dot)
            return competitor("cublas", [this] { blas_.dot(n_, x_.data(), y_.data(), result_.data()); });
        return competitor("cublas", [this] { blas_.norm2(n_, x_.data(), result_.data()); });
    }

    Competitor competitor(std::string name, std::function<void()> reduce) {
        auto replay = std::make_shared<Replay>(stream_, std::move(reduce));
        return {.name = std::move(name),
                .threads = 0,
                .bytes = traffic(data_),
                .error = [this] { return take_max_ulp_error(1, result_.data(), exact_.data(), stream_); },
                .turn = [replay] { return replay->turn(); }};
    }

    Subject subject_;
    std::int64_t n_;
    Factors<T> data_;
    std::vector<std::pair<std::string, std::string>> parameters_;
    std::string heading_;
    int device_;
    OwnStream stream_;
    cuda::DeviceArray<T> x_, y_, result_, exact_;
    cuda::Reducer reducer_;
    CuBlas blas_;
    CubSum<T> cub_;
};

}  // namespace

void bench_reduce(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory(n);
    for (const std::int64_t n : options.sizes)
        for (const Input input : options.inputs) {
            if (options.in_double) Reductions<double>(options, input, n).run(report);
            if (options.in_single) Reductions<float>(options, input, n).run(report);
        }
}

}  // namespace solver::bench::on_cuda
