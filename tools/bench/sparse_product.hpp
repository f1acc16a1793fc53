#pragma once

/// y = A x by everybody on one machine.

#include "operation.hpp"
#include "options.hpp"
#include "solver/spmv.hpp"

#include <memory>
#include <span>
#include <string>

namespace solver::bench {

template <class T>
class SparseProduct : public Operation {
public:
    /// What is multiplied from now on, and A x correctly rounded.
    virtual void use(std::span<const T> x, std::span<const T> exact) = 0;

    virtual SpmvKernel kernel() const = 0;
    virtual std::string packed() const = 0;  ///< how A is packed; empty where packing is not measured
};

/// On the machine that the options name. A must outlive it.
template <class T>
std::unique_ptr<SparseProduct<T>> make_sparse_product(const Options& options, const CsrView<T>& a);

}  // namespace solver::bench
