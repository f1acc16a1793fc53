#include "preconditioner/memory_limit.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"
#include "support/less_memory.hpp"

#include <gtest/gtest.h>

namespace solver {
namespace {

// Promise: preconditioner.hpp, "0: half of what the process may use"
// Promise: solver.h, "0: half of what the process may use"
TEST(MemoryLimit, IsHalfOfWhatTheProcessMayUseByDefault) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take more memory than this leaves them";
#endif
    constexpr std::int64_t bytes = std::int64_t{1} << 29;
    const testing::LessMemory less(bytes);
    ASSERT_TRUE(less.is_set());
    ASSERT_EQ(available_memory(), bytes);
    EXPECT_EQ(memory_limit_in_bytes(PreconditionerOptions().memory_limit), bytes / 2);
    EXPECT_EQ(memory_limit_in_bytes(3 * bytes), 3 * bytes);
    EXPECT_NO_THROW(require_memory("ilut", bytes / 2, 0, ""));
    EXPECT_THROW(require_memory("ilut", bytes / 2 + 1, 0, ""), ResourceLimit);
}

TEST(MemoryLimit, IsNotNegative) {
    const CsrMatrix<double> one{1, 1, {0, 1}, {0}, {1}};
    for (const PreconditionerKind kind : {PreconditionerKind::ilut, PreconditionerKind::klu, PreconditionerKind::jacobi})
        EXPECT_THROW(make_preconditioner<double>(kind, one.view(), Accuracy::exact, Device::cpu(1), {.memory_limit = -1}),
                     InvalidArgument);
    EXPECT_THROW(SpmvPlan<double>(one.view(), Device::cpu(1), {.memory_limit = -1}), InvalidArgument);
}

}  // namespace
}  // namespace solver
