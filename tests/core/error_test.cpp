#include "solver/error.hpp"

#include "solver/cuda/runtime.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

namespace solver {
namespace {

template <class Derived>
constexpr bool is_an_error = std::is_base_of_v<Error, Derived>;

// Promise: error.hpp, "The base of everything the library throws on purpose."
TEST(Errors, HaveOneBase) {
    static_assert(std::is_base_of_v<std::runtime_error, Error>);
    static_assert(is_an_error<InvalidArgument> && is_an_error<NotSupported> && is_an_error<FileError>);
    static_assert(is_an_error<cuda::CudaError>);
    static_assert(std::is_base_of_v<InvalidArgument, DimensionMismatch>);
    static_assert(std::is_base_of_v<InvalidArgument, ResourceLimit>);
    EXPECT_STREQ(NotSupported("words").what(), "words");
}

// Promise: error.hpp, "The text begins with"
TEST(Errors, ShowThatANameIsEmpty) {
    EXPECT_STREQ(FileError("a.mtx", 3, "words").what(), "a.mtx:3: words");
    EXPECT_STREQ(FileError("", 0, "words").what(), "'': words");
}

}  // namespace
}  // namespace solver
