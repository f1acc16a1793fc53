#pragma once

/// Products and reductions of data that lie on a CUDA device, on your own stream. Plain C++: needs no header of CUDA. For data
/// in the host's memory give Device::cuda() to the functions of the other headers instead.
///
/// Work is put on the caller's stream and is not waited for, unless a function says so; results stay on the device. Plans and
/// reducers allocate nothing after their construction, so that their calls can be captured into a CUDA graph. Whatever device
/// is current when these functions are called is so afterwards.
///
/// Errors: NotSupported in a library built without CUDA, ResourceLimit where the device's memory does not suffice, with what
/// was needed and free, InvalidArgument for what a function refuses, CudaError for the rest, with the call and what it was for.
/// What goes wrong in a kernel is reported, as always in CUDA, by a later call that waits.

#include "solver/accuracy.hpp"
#include "solver/error.hpp"
#include "solver/numeric/expansion.hpp"
#include "solver/row_offsets.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

struct CUstream_st;

namespace solver::cuda {

/// cudaStream_t; nullptr is the default stream.
using Stream = CUstream_st*;

/// Kernels given a gate do nothing unless the stage, a number below 32 in the device's memory, is one of the mask's bits when
/// they begin. So a chain of kernels can be put on a stream once and decide on the device which of its links work. The default
/// is open.
struct Gate {
    const std::int32_t* stage = nullptr;
    std::uint32_t mask = ~std::uint32_t{0};
};

/// A call of the CUDA runtime failed.
class CudaError : public Error {
public:
    using Error::Error;
};

/// What there is of CUDA in this library and on this machine. Versions are 13000 for 13.0.
struct Platform {
    bool built_in = false;
    int runtime_version = 0;  ///< which the library was built with; 0 without CUDA
    int driver_version = 0;   ///< the newest CUDA that the driver knows; 0 where there is no driver
    int devices = 0;
    std::string problem;  ///< the driver's words for why there are no devices
};
Platform platform();

/// 0 where there is no device, no driver, or this is a build without CUDA.
int device_count() noexcept;

/// What sums, dot products, norms and sparse products of floats add up in, in compensated and exact: doubles, or expansions of
/// floats where doubles are much slower than floats. Cannot be seen in a bit of exact.
enum class FloatSums { in_double, in_float };

struct DeviceDescription {
    std::string name;
    int multiprocessors = 0;
    int compute_capability = 0;  ///< 90 for 9.0
    std::int64_t level2_bytes = 0;
    std::int64_t memory_bytes = 0;
    int floats_per_double = 0;  ///< operations on floats in the time of one on doubles; 2 where doubles are fast
    FloatSums float_sums = FloatSums::in_double;  ///< by that number, or by SOLVER_FLOAT_SUMS=double|float in the environment
};
DeviceDescription describe(int device);

/// Whether the library holds code that this device can run. Begins to use the device.
bool has_code_for(int device);

/// Waits until all work on the stream is done.
void synchronize(int device, Stream stream);

namespace detail {
Stream create_stream(int device);
void destroy_stream(int device, Stream stream) noexcept;
void* allocate(int device, std::int64_t bytes, const char* purpose);
void release(int device, void* memory) noexcept;
void copy_to_device(int device, void* to, const void* from, std::int64_t bytes, Stream stream);
void copy_to_host(int device, void* to, const void* from, std::int64_t bytes, Stream stream);
void fill_with_zeros(int device, void* memory, std::int64_t bytes, Stream stream);
}  // namespace detail

/// A stream that no other waits for.
class OwnedStream {
public:
    explicit OwnedStream(int device) : device_(device), stream_(detail::create_stream(device)) {}
    OwnedStream(const OwnedStream&) = delete;
    OwnedStream& operator=(const OwnedStream&) = delete;
    ~OwnedStream() { detail::destroy_stream(device_, stream_); }

    Stream get() const { return stream_; }

private:
    int device_;
    Stream stream_;
};

/// Memory on a device, for anything that can be copied byte by byte. Freeing it waits for the device, as cudaFree does.
template <class T>
class DeviceArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    DeviceArray() = default;
    /// What is there is not defined. `purpose` is for the message where there is too little memory: "the values of a matrix".
    DeviceArray(int device, std::int64_t size, const char* purpose)
        : device_(device),
          size_(size),
          data_(static_cast<T*>(detail::allocate(device, size * static_cast<std::int64_t>(sizeof(T)), purpose))) {}
    DeviceArray(int device, std::span<const T> host, const char* purpose, Stream stream = nullptr)
        : DeviceArray(device, static_cast<std::int64_t>(host.size()), purpose) {
        copy_from(host, stream);
    }
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        DeviceArray(std::move(other)).swap(*this);
        return *this;
    }
    ~DeviceArray() {
        if (owns_) detail::release(device_, data_);
    }

    /// `size` elements from `begin` on, which stay this array's: it must outlive the part.
    DeviceArray part(std::int64_t begin, std::int64_t size) const {
        DeviceArray some;
        some.device_ = device_;
        some.size_ = size;
        some.data_ = data_ + begin;
        some.owns_ = false;
        return some;
    }

    int device() const { return device_; }
    T* data() const { return data_; }
    std::int64_t size() const { return size_; }
    std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }

    /// The first host.size() elements, from and to the host. Both wait for the stream, so that the host's memory may be used as
    /// soon as they return. Throw DimensionMismatch where there are not as many.
    void copy_from(std::span<const T> host, Stream stream = nullptr) {
        require_room(host.size());
        detail::copy_to_device(device_, data_, host.data(), static_cast<std::int64_t>(host.size_bytes()), stream);
    }
    void copy_to(std::span<T> host, Stream stream = nullptr) const {
        require_room(host.size());
        detail::copy_to_host(device_, host.data(), data_, static_cast<std::int64_t>(host.size_bytes()), stream);
    }
    void fill_with_zeros(Stream stream = nullptr) const { detail::fill_with_zeros(device_, data_, bytes(), stream); }

private:
    void require_room(std::size_t host_size) const {
        if (host_size > static_cast<std::size_t>(size_))
            throw DimensionMismatch("copy between host and cuda:" + std::to_string(device_) + ": the host has " +
                                    std::to_string(host_size) + " elements, the device " + std::to_string(size_));
    }
    void swap(DeviceArray& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(size_, other.size_);
        std::swap(data_, other.data_);
        std::swap(owns_, other.owns_);
    }

    int device_ = 0;
    std::int64_t size_ = 0;
    T* data_ = nullptr;
    bool owns_ = true;
};

/// A sparse matrix in the memory of a device; the layout of CsrView. Views are cheap to copy and never outlive what they look
/// at.
template <class T>
struct DeviceCsrView {
    int device = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    RowOffsetPointer row_offsets;
    const std::int32_t* column_indices = nullptr;
    const T* values = nullptr;
};

/// Throws InvalidArgument, which names the first offender, unless row offsets rise from 0 to the number of entries and every
/// column lies within 0..columns-1. Reads the matrix once, on its device, and waits for the stream. Nothing else checks what a
/// view holds.
template <class T>
void check(const DeviceCsrView<T>& matrix, Stream stream = nullptr);

/// A copy of a matrix in the memory of a device.
template <class T>
class DeviceCsrMatrix {
public:
    /// Waits for the stream.
    DeviceCsrMatrix(int device, const CsrView<T>& a, Stream stream = nullptr)
        : offsets_(device, a.row_offsets.bytes(), "the row offsets of a matrix", stream),
          columns_(device, a.column_indices, "the column indices of a matrix", stream),
          values_(device, a.values, "the values of a matrix", stream),
          view_{device,          a.rows,        a.columns, a.nonzeros(), a.row_offsets.copied_to(offsets_.data()),
                columns_.data(), values_.data()} {}

    /// Other values in the same pattern; views stay valid. Waits for the stream.
    void update_values(std::span<const T> values, Stream stream = nullptr) { values_.copy_from(values, stream); }

    const DeviceCsrView<T>& view() const { return view_; }

private:
    DeviceArray<std::byte> offsets_;  ///< of the width that they have on the host
    DeviceArray<std::int32_t> columns_;
    DeviceArray<T> values_;
    DeviceCsrView<T> view_;
};

/// y = alpha A (x + x_low) + beta y_in, all in the device's memory and aligned as their type; y may be y_in, and overlaps
/// nothing else.
template <class T>
struct RowTask {
    T alpha = 1;
    const T* x = nullptr;
    const T* x_low = nullptr;  ///< or none
    T beta = 0;
    const T* y_in = nullptr;  ///< read only where beta is not 0
    T* y = nullptr;
};

/// Several vectors that are multiplied together: those of column j begin j * stride elements behind those of the first. A gate
/// asks the stage of each column, j * stage_stride numbers behind the first one's, and is open for some of them at a time.
struct Columns {
    std::int64_t count = 1;
    std::int64_t stride = 0;
    std::int64_t stage_stride = 0;
};

/// Of the row offsets that kernels use: 32 bits where that is enough, or 64 bits in any case, which tests can ask for. Offsets
/// that the matrix has in this width are used where they are.
enum class OffsetWidth { automatic, wide };

template <class T>
class PackedOnDevice;

/// The analysis of a matrix, made on the device: a copy of row offsets that do not have the width of the kernels, and for
/// `adaptive` tiles of nearly equal work. Keeps a view; the matrix must outlive the plan unchanged. A plan has working memory
/// of its own: one product at a time.
template <class T>
class SpmvPlan {
public:
    /// Waits for the stream. `automatic` chooses general where no row is much longer than the mean, else adaptive.
    /// `most_columns` of several vectors are multiplied at once.
    SpmvPlan(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream = nullptr, OffsetWidth width = OffsetWidth::automatic,
             std::int64_t most_columns = 1);
    SpmvPlan(SpmvPlan&&) noexcept;
    SpmvPlan& operator=(SpmvPlan&&) noexcept;
    ~SpmvPlan();

    // Products only launch kernels: they can be captured in a CUDA graph.

    /// The promises are those of solver::SpmvPlan::multiply, and in exact the bits too.
    void multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream = nullptr, Gate gate = {}) const;

    /// The same for several columns of x, x_low, y_in and y, each with the bits of a product of its own; A is read from memory
    /// once for all of them.
    void multiply(const RowTask<T>& task, const Columns& columns, Accuracy accuracy, Stream stream = nullptr,
                  Gate gate = {}) const;

    /// For the library itself: from now on single products with x alone read this packed copy of the same matrix; the others,
    /// and rows that exact finds hard, the matrix itself. Waits for the stream.
    void use(std::shared_ptr<const PackedOnDevice<T>> packed, Stream stream = nullptr);

    SpmvKernel kernel() const;             ///< general or adaptive
    std::int64_t workspace_bytes() const;  ///< what the analysis and the working memory take on the device

    /// Rows that all exact products since the plan was made have left to the last resort: for telling what a matrix costs. A
    /// number of 32 bits that goes on from 0 after 2^32 - 1. Waits for the stream.
    std::int64_t rows_not_certified(Stream stream = nullptr) const;

private:
    struct Analysis;
    std::unique_ptr<Analysis> analysis_;
};

enum class Reduction { sum, dot, norm2 };

/// The vectors of a dot product.
template <class T>
struct Factors {
    const T* x = nullptr;
    const T* y = nullptr;
};

/// Sums, dot products and norms; the promises are those of solver/reduce.hpp, and in exact the bits too. Has working memory of
/// its own: one reduction at a time.
class Reducer {
public:
    explicit Reducer(int device);
    Reducer(Reducer&&) noexcept;
    Reducer& operator=(Reducer&&) noexcept;
    ~Reducer();

    /// *result = sum_i x_i, sum_i x_i y_i or sqrt(sum_i x_i^2), where only dot reads y. x, y and result are in the device's
    /// memory and aligned as their type.
    void reduce(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, double* result,
                Stream stream = nullptr);
    void reduce(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, float* result,
                Stream stream = nullptr);

    /// results[k] = sum_i of[k].x_i of[k].y_i, all in one pass: a vector that several of them have, as in (x, x), (x, y), (y,
    /// y), is read from memory once. The promises of reduce, in exact the same bits. Throws InvalidArgument for more than
    /// most_dots.
    static constexpr int most_dots = 4;
    void dots(std::int64_t n, std::span<const Factors<double>> of, Accuracy accuracy, double* results, Stream stream = nullptr);
    void dots(std::int64_t n, std::span<const Factors<float>> of, Accuracy accuracy, float* results, Stream stream = nullptr);

    /// *result = the sum or the dot product itself, as solver::sum_expansion and dot_expansion give it, with their bits. Takes
    /// the time of superaccumulators, three to six times that of a reduction. Throws InvalidArgument for norm2.
    void expand(Reduction reduction, std::int64_t n, const double* x, const double* y, Expansion<double>* result,
                Stream stream = nullptr);
    void expand(Reduction reduction, std::int64_t n, const float* x, const float* y, Expansion<float>* result,
                Stream stream = nullptr);

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
