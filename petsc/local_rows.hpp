#pragma once

/// Rows of a matrix made ready for products at a place.

#include "place.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>

namespace petscsolver {

class LocalRows {
public:
    /// On the processor it keeps the view, and from some number of products on a packed copy beside it; on a device, a copy.
    LocalRows(const solver::CsrView<double>& rows, const Place& place);
    ~LocalRows();

    /// y = alpha A x + beta z in the accuracy of the settings, all at the place; on a device it is put on the stream.
    void multiply(const Place& place, double alpha, const double* x, double beta, const double* z, double* y);

    /// The values were changed where they are.
    void reread_values(const Place& place);

private:
    struct OnDevice;

    void count_product();

    solver::CsrView<double> view_;
    std::int64_t products_ = 0;  ///< on the processor, with these values
    std::unique_ptr<solver::SpmvPlan<double>> here_;
    std::unique_ptr<OnDevice> there_;
};

}  // namespace petscsolver
