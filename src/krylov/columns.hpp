#pragma once

/// Solves that advance together.

#include "krylov/any_recurrence.hpp"
#include "krylov/place.hpp"
#include "krylov/run.hpp"
#include "krylov/solve.hpp"
#include "krylov/task.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// One right-hand side on its way.
template <class B>
class Column {
public:
    template <class MakeRecurrence>
    Column(B backend, const MakeRecurrence& make_recurrence, std::span<const typename B::Wide> initial,
           const KrylovOptions& options, const Pauses& pauses, std::int64_t number)
        : backend_(std::move(backend)),
          recurrence_(make_recurrence(backend_)),
          solve_(backend_, *recurrence_, options, pauses, number),
          task_(solve_.run(initial)) {
        task_.start(stack_);
    }
    Column(const Column&) = delete;  // its parts refer to one another
    Column& operator=(const Column&) = delete;

    /// Goes on to the next product. False once the solve has ended.
    bool advance() {
        if (result_) return false;
        stack_.resume();
        if (stack_.is_done()) result_ = task_.result();
        return !result_;
    }

    /// Once it has ended.
    SolveResult finish(const Unknown<typename B::Wide>& unknown) {
        backend_.store(solve_.solution(), unknown.x, unknown.x_low);
        return std::move(*result_);
    }

private:
    B backend_;
    std::unique_ptr<AnyRecurrence<typename B::Vector>> recurrence_;
    KrylovSolve<B> solve_;
    TaskStack stack_;
    Task<SolveResult> task_;
    std::optional<SolveResult> result_;
};

/// Columns advance from product to product; what all wait for is made in one go. make_backend(unknown, i) is that of number i
/// of these unknowns, make_recurrence(backend) a pointer to the method on it.
template <class B, class MakeBackend, class MakeRecurrence, class MakeProducts>
std::vector<SolveResult> solve_together(const KrylovCall<typename B::Wide>& call, const MakeBackend& make_backend,
                                        const MakeRecurrence& make_recurrence, const MakeProducts& make_products) {
    std::deque<Column<B>> columns;
    for (const auto& unknown : call.unknowns) {
        const std::int64_t i = std::ssize(columns);
        columns.emplace_back(make_backend(unknown, i), make_recurrence, unknown.x, call.options, call.pauses, call.first + i);
    }
    const auto advance_all = [&] {
        bool any = false;
        for (Column<B>& column : columns) any = column.advance() || any;
        return any;
    };
    while (advance_all()) make_products();
    std::vector<SolveResult> results;
    for (std::size_t i = 0; i < columns.size(); ++i) results.push_back(columns[i].finish(call.unknowns[i]));
    return results;
}

}  // namespace solver
