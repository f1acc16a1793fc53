#include "solver/preconditioner.hpp"

#include "core/check.hpp"
#include "core/floating_point_guard.hpp"
#include "core/names.hpp"
#include "cuda/spmv.hpp"
#include "preconditioner/amg/amg.hpp"
#include "preconditioner/identity.hpp"
#include "preconditioner/ilu0.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/isai.hpp"
#include "preconditioner/jacobi.hpp"
#include "preconditioner/klu.hpp"
#include "preconditioner/schur.hpp"
#include "preconditioner/within_blocks.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace solver {
namespace {

/// Kinds that keep the order of rows, so that a block diagonal matrix has the factors of its blocks.
bool keeps_order(PreconditionerKind kind) { return kind == PreconditionerKind::ilu0 || kind == PreconditionerKind::isai; }

constexpr Name<PreconditionerKind> preconditioner_kind_names[] = {
    {PreconditionerKind::none, "none"}, {PreconditionerKind::jacobi, "jacobi"}, {PreconditionerKind::ilu0, "ilu0"},
    {PreconditionerKind::isai, "isai"}, {PreconditionerKind::ilut, "ilut"},     {PreconditionerKind::klu, "klu"},
    {PreconditionerKind::amg, "amg"},   {PreconditionerKind::schur, "schur"}};

}  // namespace

std::string_view to_string(PreconditionerKind kind) {
    return name_of(kind, preconditioner_kind_names, "preconditioner: there is no kind");
}

PreconditionerKind preconditioner_from_text(std::string_view text) {
    return value_of(text, preconditioner_kind_names, "preconditioner");
}

std::optional<PreconditionerKind> preconditioner_or_auto_from_text(std::string_view text) {
    return value_or_auto(text, preconditioner_kind_names, "preconditioner");
}

template <class T>
std::unique_ptr<cuda::DevicePreconditioner<T>> Preconditioner<T>::on_device(int) const {
    return nullptr;
}
template class Preconditioner<float>;
template class Preconditioner<double>;

namespace {

/// Of a matrix that check() was called for.
template <class T>
std::unique_ptr<Preconditioner<T>> make_of_checked(PreconditionerKind kind, const CsrView<T>& a, Accuracy accuracy,
                                                   const Device& device, const PreconditionerOptions& options) {
    require_memory_limit(fmt::format("preconditioner {}", to_string(kind)), options.memory_limit);
    if (a.rows != a.columns)
        throw DimensionMismatch(
            fmt::format("preconditioner {}: A is {} x {}, but must be square", to_string(kind), a.rows, a.columns));
    if (options.complex_numbers && a.rows % 2 != 0)
        throw InvalidArgument(
            fmt::format("preconditioner {}: A has {} rows; the real form of a complex matrix has two for each of its own",
                        to_string(kind), a.rows));
    if (keeps_order(kind) && !options.block_of_row.empty()) {
        PreconditionerOptions without_blocks = options;
        without_blocks.block_of_row = {};
        const CsrMatrix<T> blocks = within_blocks(a, options.block_of_row, options.complex_numbers ? 2 : 1);
        return make_of_checked<T>(kind, blocks.view(), accuracy, device, without_blocks);
    }
    switch (kind) {
        case PreconditionerKind::none:
            return std::make_unique<Identity<T>>(a.rows);
        case PreconditionerKind::jacobi:
            return make_jacobi(a, device, options.complex_numbers);
        case PreconditionerKind::ilu0:
            return std::make_unique<LuPreconditioner<T>>("ilu0", factor_ilu0(a, accuracy), device);
        case PreconditionerKind::isai:
            return std::make_unique<Isai<T>>(a, accuracy, device);
        case PreconditionerKind::ilut:
            if (!options.block_of_row.empty()) return make_ilut_within_blocks(a, options, device);
            return make_ilut(a, prepare(a, Ordering::amd, device), options, device);
        case PreconditionerKind::klu:
            if (!options.block_of_row.empty()) return make_klu_within_blocks(a, options, device);
            return make_klu<T>(a, prepare(a, Ordering::amd, device), options, device);
        case PreconditionerKind::amg:
            return make_amg(a, options, device);
        case PreconditionerKind::schur:
            return make_schur(a, options, device);
    }
    throw InvalidArgument(fmt::format("preconditioner: there is no kind number {}", static_cast<int>(kind)));
}

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind, const CsrView<T>& a, Accuracy accuracy,
                                                       const Device& device, const PreconditionerOptions& options) {
    const cpu::FloatingPointGuard guard;
    check(a, device);
    return make_of_checked(kind, a, accuracy, device, options);
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind, const SpmvPlan<T>& plan, Accuracy accuracy,
                                                       const PreconditionerOptions& options) {
    const cpu::FloatingPointGuard guard;
    require_memory_limit(fmt::format("preconditioner {}", to_string(kind)), options.memory_limit);
    const bool is_square = plan.rows() == plan.columns();
    if (kind == PreconditionerKind::amg && is_square) return make_amg(plan, options);
    const bool is_on_device = plan.on_device() != nullptr && plan.dense() == nullptr;
    if (kind == PreconditionerKind::jacobi && is_square && is_on_device && !options.complex_numbers)
        if (auto diagonal = plan.on_device()->diagonal())
            return std::make_unique<Jacobi<T>>(std::move(*diagonal), plan.device());
    return make_of_checked<T>(kind, plan.matrix(), accuracy, plan.device(), options);
}

template std::unique_ptr<Preconditioner<float>> make_preconditioner(PreconditionerKind, const CsrView<float>&, Accuracy,
                                                                    const Device&, const PreconditionerOptions&);
template std::unique_ptr<Preconditioner<double>> make_preconditioner(PreconditionerKind, const CsrView<double>&, Accuracy,
                                                                     const Device&, const PreconditionerOptions&);

template std::unique_ptr<Preconditioner<float>> make_preconditioner(PreconditionerKind, const SpmvPlan<float>&, Accuracy,
                                                                    const PreconditionerOptions&);
template std::unique_ptr<Preconditioner<double>> make_preconditioner(PreconditionerKind, const SpmvPlan<double>&, Accuracy,
                                                                     const PreconditionerOptions&);

}  // namespace solver
