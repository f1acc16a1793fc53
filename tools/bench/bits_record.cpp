/// The bits of one version of the library, to be laid beside those of another.

#include "bits.hpp"
#include "io/atomic_file.hpp"

#include <fmt/format.h>

namespace solver::bench {
namespace {

/// Lines, so that diff tells what has changed and what has not.
class Lines {
public:
    explicit Lines(const Options& options)
        : options_(options),
          device_(options.cuda_device ? Device::cuda(*options.cuda_device) : Device::cpu(options.threads)),
          text_(fmt::format(
              "# {}, {} iterations at most; fast and compensated depend on threads and vector instructions\n",
              device_.kind() == Device::Kind::cuda ? to_string(device_) : fmt::format("cpu, {} threads", device_.threads()),
              options.max_iterations)) {}

    template <class T>
    void add(const std::string& name, const CsrView<T>& a) {
        for (const Accuracy accuracy : all_accuracies) {
            const MatrixOnDevice<T> trial(a, device_, accuracy);
            const std::string start = fmt::format("{} {} {}", name, precision_name<T>, to_string(accuracy));
            add(start, "products", trial.products());
            add(start, "reductions", trial.reductions());
            for (const PreconditionerKind kind : preconditioners_of(options_))
                add(start, to_string(kind), trial.solve(kind, options_.max_iterations));
            add(start, "auto", trial.solve_by_default());
        }
    }

    const std::string& text() const { return text_; }

private:
    void add(const std::string& start, std::string_view what, const Record& record) {
        text_ += fmt::format("{} {}", start, what);
        if (!record.remark.empty()) text_ += fmt::format(" ({})", record.remark);
        for (const auto& [part, hash] : record.hashes()) text_ += fmt::format("  {} {:016x}", part, hash);
        text_ += '\n';
    }

    const Options& options_;
    Device device_;
    std::string text_;
};

}  // namespace

void record_bits(const Options& options) {
    Lines lines(options);
    for_each_square_matrix(options, [&](const std::string& name, const auto& a) {
        lines.add(name, a);
        write_draft(options.record, lines.text());
    });
    write_file(options.record, lines.text());
}

}  // namespace solver::bench
