#pragma once

/// Complex products as real ones.

#include "gemm/residue/residue.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

namespace solver::cuda {

/// A complex row as a real one of twice the length, re and im in turn; of B each b = re + im i as the block ( re im ; -im re ).
/// Then the real product has the complex one's rows in the same way.
class RealForm {
public:
    explicit RealForm(int device) : device_(device) {}

    /// Columns of C are contiguous, alpha and beta real. A is used where it is if it is stored by rows and not conjugated. What
    /// is made here lasts until the next call.
    template <class T>
    GemmTask<T> of(const GemmTask<std::complex<T>>& task, Conjugation conjugation, Stream stream);

    /// For alpha == 0, or no products: of C alone.
    template <class T>
    static GemmTask<T> without_factors(const GemmTask<std::complex<T>>& task) {
        return {T(0), {}, {}, task.beta.real(), real_rows(task.c)};
    }

    std::int64_t bytes() const { return rows_.bytes() + partner_.bytes(); }

private:
    template <class T>
    static MutableDenseView<T> real_rows(const MutableDenseView<std::complex<T>>& c) {
        return {c.rows, 2 * c.columns, 2 * std::max(c.row_stride, c.columns), 1, reinterpret_cast<T*>(c.data)};
    }

    int device_;
    Grown<std::uint8_t> rows_;
    Grown<std::uint8_t> partner_;
};

}  // namespace solver::cuda
