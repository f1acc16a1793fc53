#include "local_rows.hpp"

#include "settings.hpp"
#include "solver/cuda.hpp"

namespace petscsolver {
namespace {

using Plan = solver::SpmvPlan<double>;

/// Packing takes the time of some tens of them.
constexpr std::int64_t products_before_packing = 100;

/// One rank beside others on a machine: its work is its own thread's. Packs where so many products pay for it.
std::unique_ptr<Plan> plan_of(const solver::CsrView<double>& rows, std::int64_t expected_products) {
    const solver::SpmvOptions options{.storage = settings().storage, .expected_products = expected_products};
    return std::make_unique<Plan>(rows, solver::Device::cpu(1), options);
}

}  // namespace

struct LocalRows::OnDevice {
    OnDevice(const solver::CsrView<double>& rows, const Place& place)
        : matrix(place.device, rows, place.stream), plan(matrix.view(), solver::SpmvKernel::automatic, place.stream) {}

    solver::cuda::DeviceCsrMatrix<double> matrix;
    solver::cuda::SpmvPlan<double> plan;
};

LocalRows::LocalRows(const solver::CsrView<double>& rows, const Place& place) : view_(rows) {
    if (place.on_device())
        there_ = std::make_unique<OnDevice>(rows, place);
    else
        here_ = plan_of(rows, 1);
}

LocalRows::~LocalRows() = default;

/// So many are followed by as many more, likely.
void LocalRows::count_product() {
    if (++products_ == products_before_packing) here_ = plan_of(view_, products_);
}

void LocalRows::multiply(const Place& place, double alpha, const double* x, double beta, const double* z, double* y) {
    if (there_) {
        const solver::cuda::RowTask<double> task{.alpha = alpha, .x = x, .beta = beta, .y_in = z, .y = y};
        there_->plan.multiply(task, settings().accuracy, place.stream);
    } else {
        count_product();
        const auto rows = static_cast<std::size_t>(view_.rows);
        const solver::SpmvTask<double> task{
            .alpha = alpha, .x = {x, static_cast<std::size_t>(view_.columns)}, .beta = beta, .y_in = {z, rows}, .y = {y, rows}};
        here_->multiply({&task, 1}, settings().accuracy);
    }
}

void LocalRows::reread_values(const Place& place) {
    if (there_) there_->matrix.update_values(view_.values, place.stream);
    products_ = 0;
    if (here_ && here_->describe().storage == solver::SpmvStorage::packed) here_ = plan_of(view_, 1);
}

}  // namespace petscsolver
