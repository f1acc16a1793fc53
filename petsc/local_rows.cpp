#include "local_rows.hpp"

#include "settings.hpp"
#include "solver/cuda.hpp"

namespace petscsolver {
namespace {

/// Packing takes the time of some tens of them.
constexpr std::int64_t products_before_packing = 100;

/// Packs where so many products pay for it.
template <class T>
std::unique_ptr<solver::SpmvPlan<T>> plan_of(const solver::CsrView<T>& rows, std::int64_t expected_products) {
    const solver::SpmvOptions options{.storage = settings().storage, .expected_products = expected_products};
    return std::make_unique<solver::SpmvPlan<T>>(rows, one_thread(), options);
}

}  // namespace

template <class T>
struct LocalRows<T>::OnDevice {
    OnDevice(const solver::CsrView<T>& rows, const Place& place)
        : matrix(place.device, rows, place.stream), plan(matrix.view(), solver::SpmvKernel::automatic, place.stream) {}

    solver::cuda::DeviceCsrMatrix<T> matrix;
    solver::cuda::SpmvPlan<T> plan;
};

template <class T>
LocalRows<T>::LocalRows(const solver::CsrView<T>& rows, const Place& place, std::int64_t expected_products)
    : view_(rows), products_(expected_products - 1) {
    if (place.on_device())
        there_ = std::make_unique<OnDevice>(rows, place);
    else
        here_ = plan_of(rows, expected_products);
}

template <class T>
LocalRows<T>::~LocalRows() = default;

/// So many are followed by as many more, likely.
template <class T>
void LocalRows<T>::count_product() {
    if (++products_ == products_before_packing) here_ = plan_of(view_, products_);
}

template <class T>
void LocalRows<T>::multiply(const Place& place, T alpha, const T* x, T beta, const T* z, T* y, solver::Accuracy accuracy) {
    if (there_) {
        const solver::cuda::RowTask<T> task{.alpha = alpha, .x = x, .beta = beta, .y_in = z, .y = y};
        there_->plan.multiply(task, accuracy, place.stream);
    } else {
        count_product();
        const auto rows = static_cast<std::size_t>(view_.rows);
        const solver::SpmvTask<T> task{
            .alpha = alpha, .x = {x, static_cast<std::size_t>(view_.columns)}, .beta = beta, .y_in = {z, rows}, .y = {y, rows}};
        here_->multiply({&task, 1}, accuracy);
    }
}

template <class T>
void LocalRows<T>::reread_values(const Place& place) {
    if (there_) there_->matrix.update_values(view_.values, place.stream);
    products_ = 0;
    if (here_ && here_->describe().storage == solver::SpmvStorage::packed) here_ = plan_of(view_, 1);
}

template class LocalRows<float>;
template class LocalRows<double>;

}  // namespace petscsolver
