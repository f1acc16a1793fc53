#include "peers_on_cuda.hpp"

#include "on_device.hpp"
#include "solver/error.hpp"
#include "tools/bench/cuda/peers.hpp"

#include <limits>
#include <memory>

namespace solver::blas2::on_cuda {
namespace {

template <class T>
class Product {
public:
    Product(const std::string& name, const CsrView<T>& a, std::span<const T> x, int device)
        : device_(device),
          stream_(device),
          a_(device, a, stream_.get()),
          x_(device, x, "x", stream_.get()),
          y_(device, a.rows, "A x"),
          peer_(a, a_.view(),
                name == "cusparse_alg1" ? bench::on_cuda::SpmvAlgorithm::alg1 : bench::on_cuda::SpmvAlgorithm::alg2,
                stream_.get()) {}

    void compute(std::span<T> y) {
        peer_.multiply(x_.data(), y_.data());
        y_.copy_to(y, stream_.get());
    }
    double seconds() {
        return on_device::seconds_of_launch(device_, stream_.get(), [&] { peer_.multiply(x_.data(), y_.data()); });
    }

private:
    int device_;
    cuda::OwnedStream stream_;
    cuda::DeviceCsrMatrix<T> a_;
    cuda::DeviceArray<T> x_, y_;
    bench::on_cuda::CuSparseMatrix<T> peer_;
};

}  // namespace

template <class T>
Subject<T> cusparse(const std::string& name, const CsrView<T>& a, std::span<const T> x, int device) {
    if (a.nonzeros() > std::numeric_limits<std::int32_t>::max())
        throw NotSupported("cuSPARSE's 32-bit indices do not count the entries of this matrix");
    const auto product = std::make_shared<Product<T>>(name, a, x, device);
    return {.compute = [product](Accuracy, std::span<T> y) { product->compute(y); },
            .seconds = [product](Accuracy) { return product->seconds(); }};
}

template Subject<float> cusparse(const std::string&, const CsrView<float>&, std::span<const float>, int);
template Subject<double> cusparse(const std::string&, const CsrView<double>&, std::span<const double>, int);

}  // namespace solver::blas2::on_cuda
