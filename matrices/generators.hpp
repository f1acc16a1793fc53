#pragma once

/// Matrices made by the name of a file: the same on every machine, to the last bit.

#include "solver/csr_matrix.hpp"

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace solver::matrices {

/// A family of matrices, for help texts and error messages.
struct GeneratorKind {
    std::string_view pattern;  ///< "poisson2d_N.mtx", where N is a number, or a name without one
    std::string_view purpose;  ///< one line: what it is and is good for
};

std::span<const GeneratorKind> generator_kinds();

/// One matrix of a family.
struct Generator {
    std::string name;  ///< with .mtx
    std::string_view purpose;
    std::function<CsrMatrix<double>()> make;                             ///< of a complex matrix, its real form
    std::function<CsrMatrix<std::complex<double>>()> make_complex = {};  ///< empty where the matrix is real

    bool is_complex() const { return make_complex != nullptr; }

    /// One of a complex matrix.
    static Generator complex(std::string name, std::string_view purpose, std::function<CsrMatrix<std::complex<double>>()> make);
};

/// The generator of this name, with or without .mtx; nothing where no family has such names. Throws InvalidArgument where a
/// family has but N is not a number, or gives more rows than 32-bit columns can count, or more entries than this
/// machine has memory for.
std::optional<Generator> find_generator(std::string_view name);

/// Throws InvalidArgument where a matrix of so many rows and real entries takes more memory than there is.
void require_memory(std::string_view name, std::int64_t rows, std::int64_t entries);

}  // namespace solver::matrices
