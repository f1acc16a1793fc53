#pragma once

/// Rows of a matrix made ready for products at a place.

#include "place.hpp"
#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>

namespace petscsolver {

template <class T>
class LocalRows {
public:
    /// On the processor it keeps the view, and a packed copy beside it where the products that are expected, or later as many
    /// again as there were, pay for one; on a device, a copy.
    LocalRows(const solver::CsrView<T>& rows, const Place& place, std::int64_t expected_products = 1);
    ~LocalRows();

    /// y = alpha A x + beta z, all at the place; on a device it is put on the stream.
    void multiply(const Place& place, T alpha, const T* x, T beta, const T* z, T* y, solver::Accuracy accuracy);

    /// The values were changed where they are.
    void reread_values(const Place& place);

private:
    struct OnDevice;

    void count_product();

    solver::CsrView<T> view_;
    std::int64_t products_;  ///< on the processor with these values, or as many as were expected
    std::unique_ptr<solver::SpmvPlan<T>> here_;
    std::unique_ptr<OnDevice> there_;
};

}  // namespace petscsolver
