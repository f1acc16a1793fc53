#pragma once

/// The first lines of a Matrix Market file: banner, comments, sizes.

#include "core/csr_assembly.hpp"
#include "io/matrix_market/text_blocks.hpp"

namespace solver::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern, complex };

struct Header {
    Format format = Format::coordinate;
    Field field = Field::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;    ///< as declared, or how many an array of this shape stores
    std::int64_t size_line = 0;  ///< where the sizes stand
};

/// Reads the header. What remains of the last block taken is left in `block`. Throws FileError.
Header read_header(TextBlocks& blocks, TextBlock& block);

}  // namespace solver::matrix_market
