#pragma once

/// A recurrence as the outer loop sees it, whatever the method: so that the loop is compiled once for a backend.

#include "core/krylov/stretch.hpp"
#include "krylov/backend.hpp"
#include "krylov/task.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace solver {

/// The functions of the concept Recurrence, which says what each does.
template <class Vector>
class AnyRecurrence {
public:
    virtual ~AnyRecurrence() = default;

    virtual bool has_random_starts() const = 0;
    virtual bool has_bounded_residuals() const = 0;
    virtual bool keeps_directions() const = 0;
    virtual Vector& r() = 0;
    virtual Vector& z() = 0;

    virtual void start(const Vector* weights) = 0;
    virtual void begin(double r_norm, std::uint64_t seed) = 0;
    virtual void update_z() = 0;
    virtual void continue_from_replaced(double r_norm) = 0;
    virtual void reset_drift(double r_norm, double x_terms) = 0;
    virtual Task<Stretch> advance(const StepLimits& limits) = 0;
    virtual std::span<const double> norms() const = 0;
};

template <class R, class Vector>
requires Recurrence<R, Vector>
class RecurrenceOf final : public AnyRecurrence<Vector> {
public:
    template <class... Arguments>
    explicit RecurrenceOf(Arguments&&... arguments) : recurrence_(std::forward<Arguments>(arguments)...) {}

    bool has_random_starts() const override { return R::has_random_starts; }
    bool has_bounded_residuals() const override { return R::has_bounded_residuals; }
    bool keeps_directions() const override { return R::keeps_directions; }
    Vector& r() override { return recurrence_.r; }
    Vector& z() override { return recurrence_.z; }

    void start(const Vector* weights) override { recurrence_.start(weights); }
    void begin(double r_norm, std::uint64_t seed) override { recurrence_.begin(r_norm, seed); }
    void update_z() override { recurrence_.update_z(); }
    void continue_from_replaced(double r_norm) override { recurrence_.continue_from_replaced(r_norm); }
    void reset_drift(double r_norm, double x_terms) override { recurrence_.reset_drift(r_norm, x_terms); }
    Task<Stretch> advance(const StepLimits& limits) override { return recurrence_.advance(limits); }
    std::span<const double> norms() const override { return recurrence_.norms(); }

private:
    R recurrence_;
};

}  // namespace solver
