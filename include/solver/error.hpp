#pragma once

/// What the library throws. Every message says what was being done, what was seen, what was expected and what helps.
/// How an iteration ends is not an error: see SolveStatus.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace solver {

/// The base of everything the library throws on purpose.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A value outside its range, an unknown name, a matrix without a property that the operation needs.
class InvalidArgument : public Error {
public:
    using Error::Error;
};

/// Shapes that do not fit together.
class DimensionMismatch : public InvalidArgument {
public:
    using InvalidArgument::InvalidArgument;
};

/// More memory would be needed than was allowed or is there.
class ResourceLimit : public InvalidArgument {
public:
    using InvalidArgument::InvalidArgument;
};

/// Something this build, device or version cannot do.
class NotSupported : public Error {
public:
    using Error::Error;
};

/// A file that cannot be read, written or understood. The text begins with "path:line: " where a line is known (line > 0),
/// else with "path: ".
class FileError : public Error {
public:
    FileError(const std::string& path, std::int64_t line, const std::string& message)
        : Error((path.empty() ? "''" : path) + (line > 0 ? std::string(":").append(std::to_string(line)) : "") + ": " +
                message),
          line_(line) {}

    /// Counted from 1; 0 where no line is to blame.
    std::int64_t line() const { return line_; }

private:
    std::int64_t line_;
};

}  // namespace solver
