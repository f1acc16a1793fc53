#include "mkl_peer.hpp"

#include <dlfcn.h>

#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace solver::bench::mkl {
namespace {

// As MKL declares them, for 32-bit indices (LP64).
using Handle = void*;
struct MatrixDescription {
    int type, mode, diagonal;
};
constexpr int success = 0;
constexpr int no_transpose = 10;
constexpr int base_zero = 0;
constexpr MatrixDescription general{20, 40, 50};  // the last two are not looked at
constexpr int aggressive = 81;
constexpr int many_products = 100'000;

template <class Function>
Function* function(void* library, const char* name) {
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
}

/// std::complex is passed as MKL's structures of two numbers are.
template <class T>
struct Typed {
    Typed(void* library, const std::string& letter)
        : create(function<int(Handle*, int, int, int, int*, int*, int*, T*)>(library,
                                                                             ("mkl_sparse_" + letter + "_create_csr").c_str())),
          multiply(function<int(int, T, Handle, MatrixDescription, const T*, T, T*)>(
              library, ("mkl_sparse_" + letter + "_mv").c_str())) {}

    bool is_complete() const { return create != nullptr && multiply != nullptr; }

    int (*create)(Handle*, int base, int rows, int columns, int* begins, int* ends, int* column_indices, T* values);
    int (*multiply)(int operation, T alpha, Handle, MatrixDescription, const T* x, T beta, T* y);
};

void* load() {
    if (const char* const file = std::getenv("SOLVER_BENCH_MKL")) return ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    for (const char* const name : {"libmkl_rt.so.3", "libmkl_rt.so.2"})
        if (void* const found = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    return nullptr;
}

/// MKL's library, once loaded never closed: it has threads.
struct Library {
    Library()
        : handle(load()),
          typed({handle, "d"}, {handle, "s"}, {handle, "z"}, {handle, "c"}),
          hint(function<int(Handle, int, MatrixDescription, int)>(handle, "mkl_sparse_set_mv_hint")),
          memory_hint(function<int(Handle, int)>(handle, "mkl_sparse_set_memory_hint")),
          optimize(function<int(Handle)>(handle, "mkl_sparse_optimize")),
          destroy(function<int(Handle)>(handle, "mkl_sparse_destroy")),
          set_threads(function<void(int)>(handle, "MKL_Set_Num_Threads")),
          version(function<void(char*, int)>(handle, "MKL_Get_Version_String")) {}

    bool is_complete() const {
        const bool has_types = std::apply([](const auto&... type) { return (type.is_complete() && ...); }, typed);
        return has_types && hint && memory_hint && optimize && destroy && set_threads && version;
    }

    void* handle;
    std::tuple<Typed<double>, Typed<float>, Typed<std::complex<double>>, Typed<std::complex<float>>> typed;
    int (*hint)(Handle, int operation, MatrixDescription, int calls);
    int (*memory_hint)(Handle, int policy);
    int (*optimize)(Handle);
    int (*destroy)(Handle);
    void (*set_threads)(int);
    void (*version)(char*, int);
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

void require(int status, const char* call) {
    if (status != success) throw std::runtime_error(std::string("MKL: ") + call + " returned " + std::to_string(status));
}

}  // namespace

bool is_there() { return library().is_complete(); }

std::string description() {
    if (!is_there()) return "no MKL (libmkl_rt.so; pip install mkl, then SOLVER_BENCH_MKL=FILE)";
    char text[200] = "";
    library().version(text, sizeof text);
    return text;
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

template <class T>
struct SparseMatrix<T>::Storage {
    std::vector<int> offsets;
    std::vector<int> columns;
    std::vector<T> values;
    Handle handle{};

    ~Storage() {
        if (handle != nullptr) library().destroy(handle);
    }
};

template <class T>
SparseMatrix<T>::SparseMatrix(const CsrView<T>& a, int threads) : storage_(std::make_shared<Storage>()) {
    Storage& of = *storage_;
    of.offsets.assign(a.row_offsets.begin(), a.row_offsets.end());
    of.columns.assign(a.column_indices.begin(), a.column_indices.end());
    of.values.assign(a.values.begin(), a.values.end());
    library().set_threads(threads);
    require(std::get<Typed<T>>(library().typed)
                .create(&of.handle, base_zero, static_cast<int>(a.rows), static_cast<int>(a.columns), of.offsets.data(),
                        of.offsets.data() + 1, of.columns.data(), of.values.data()),
            "mkl_sparse_create_csr");
    require(library().hint(of.handle, no_transpose, general, many_products), "mkl_sparse_set_mv_hint");
    require(library().memory_hint(of.handle, aggressive), "mkl_sparse_set_memory_hint");
    require(library().optimize(of.handle), "mkl_sparse_optimize");
}

template <class T>
void SparseMatrix<T>::multiply(std::span<const T> x, std::span<T> y) const {
    require(
        std::get<Typed<T>>(library().typed).multiply(no_transpose, T(1), storage_->handle, general, x.data(), T(0), y.data()),
        "mkl_sparse_mv");
}

template class SparseMatrix<float>;
template class SparseMatrix<double>;
template class SparseMatrix<std::complex<float>>;
template class SparseMatrix<std::complex<double>>;

}  // namespace solver::bench::mkl
