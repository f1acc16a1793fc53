#include "tools/bench/reductions.hpp"

#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"

namespace solver::bench::on_cuda {
namespace {

cuda::Reduction reduction_of(Subject subject) {
    if (subject == Subject::dot) return cuda::Reduction::dot;
    return subject == Subject::sum ? cuda::Reduction::sum : cuda::Reduction::norm2;
}

/// The result stays on the device.
template <class T>
class ReductionOnDevice final : public Operation {
public:
    ReductionOnDevice(const Options& options, const Factors<T>& data, T exact)
        : subject_(options.subject),
          n_(static_cast<std::int64_t>(data.x.size())),
          bytes_(traffic(data)),
          device_(options.cuda_device.value()),
          stream_(device_),
          x_(device_, data.x, "x", stream_),
          y_(device_, data.y, "y", stream_),
          result_(device_, 1, "result"),
          exact_(device_, std::vector<T>{exact}, "exact result", stream_),
          reducer_(device_),
          blas_(Scalars::on_device, stream_),
          cub_(device_, n_) {}

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back(competitor(std::string(to_string(accuracy)), [this, accuracy] {
                reducer_.reduce(reduction_of(subject_), n_, x_.data(), y_.data(), accuracy, result_.data(), stream_);
            }));
        all.back().must_be_exact = true;
        return all;
    }

    std::vector<Competitor> peers() override {
        if (subject_ == Subject::sum) return {competitor("cub", [this] { cub_.sum(x_.data(), result_.data(), stream_); })};
        if (subject_ == Subject::dot)
            return {competitor("cublas", [this] { blas_.dot(n_, x_.data(), y_.data(), result_.data()); })};
        return {competitor("cublas", [this] { blas_.norm2(n_, x_.data(), result_.data()); })};
    }

private:
    Competitor competitor(std::string name, std::function<void()> reduce) {
        auto replay = std::make_shared<Replay>(stream_, std::move(reduce));
        return {.name = std::move(name),
                .threads = 0,
                .bytes = bytes_,
                .error = [this] { return take_max_ulp_error(1, result_.data(), exact_.data(), stream_); },
                .turn = [replay] { return replay->turn(); }};
    }

    Subject subject_;
    std::int64_t n_;
    double bytes_;
    int device_;
    OwnStream stream_;
    cuda::DeviceArray<T> x_, y_, result_, exact_;
    cuda::Reducer reducer_;
    CuBlas blas_;
    CubSum<T> cub_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation> make_reduction(const Options& options, const Factors<T>& data, T exact) {
    return std::make_unique<ReductionOnDevice<T>>(options, data, exact);
}

template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<float>&, float);
template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<double>&, double);

}  // namespace solver::bench::on_cuda
