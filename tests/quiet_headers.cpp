/// All public headers, and what of their templates is easily forgotten: for compilers that are told to warn of everything.

#include "solver/cuda.hpp"
#include "solver/numeric/digitwise.hpp"
#include "solver/numeric/large_superaccumulator.hpp"
#include "solver/numeric/self_test.hpp"
#include "solver/solver.hpp"

namespace solver {

template struct CsrMatrix<double>;
template struct SpmvTask<double>;
template class PartialSum<double>;
template class PartialSum<float>;
template class cuda::DeviceCsrMatrix<double>;

double use(Superaccumulator& sum, SumDigits& digits, LargeSuperaccumulator& large) {
    const double x[] = {1, 2};
    sum.add_product(x[0], x[1]);
    sum.add_several(x);
    sum.add_several(x, x);
    digits.merge(SumDigits(sum));
    large.add(x, 2);
    return sum.result<double>() + sum.sqrt_result<double>() + digits.result<double>() + digits.sqrt_result<double>() +
           sum.take_expansion<double>().component[0] + error_free_transformations_work();
}

}  // namespace solver
