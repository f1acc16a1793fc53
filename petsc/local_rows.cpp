#include "local_rows.hpp"

#include "settings.hpp"
#include "solver/cuda.hpp"

namespace petscsolver {

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
        here_ = std::make_unique<solver::SpmvPlan<double>>(rows, solver::Device::cpu(1));
}

LocalRows::~LocalRows() = default;

void LocalRows::multiply(const Place& place, double alpha, const double* x, double beta, const double* z, double* y) const {
    if (there_) {
        const solver::cuda::RowTask<double> task{.alpha = alpha, .x = x, .beta = beta, .y_in = z, .y = y};
        there_->plan.multiply(task, settings().accuracy, place.stream);
    } else {
        const auto rows = static_cast<std::size_t>(view_.rows);
        const solver::SpmvTask<double> task{
            .alpha = alpha, .x = {x, static_cast<std::size_t>(view_.columns)}, .beta = beta, .y_in = {z, rows}, .y = {y, rows}};
        here_->multiply({&task, 1}, settings().accuracy);
    }
}

void LocalRows::reread_values(const Place& place) {
    if (there_) there_->matrix.update_values(view_.values, place.stream);
}

}  // namespace petscsolver
