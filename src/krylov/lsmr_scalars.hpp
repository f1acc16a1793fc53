#pragma once

/// What one step of LSMR computes with scalars.

#include "krylov/hessenberg.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver {

/// The plane rotations that make R and R-bar of the bidiagonal matrix of alpha and beta, and the norms that follow from them
/// (Fong, Saunders, SIAM J. Sci. Comput. 33(5), 2011, sections 2 and 5, without damping). Names are the paper's.
class LsmrScalars {
public:
    /// b = beta u, A'u = alpha v
    void begin(double beta, double alpha) {
        *this = {};
        alpha_ = alpha;
        alpha_bar_ = alpha;
        zeta_bar_ = mul_rn(alpha, beta);
        beta_dd_ = beta;
        residual_ = beta;
    }

    double alpha() const { return alpha_; }

    /// beta u = A v - alpha u, alpha v = A'u - beta v
    void step(double beta, double alpha) {
        alpha_ = alpha;
        const double old_rho = rho_, old_rho_bar = rho_bar_, old_zeta = zeta_;
        const Rotation rotation = Rotation::of(alpha_bar_, beta, rho_);
        theta_ = mul_rn(rotation.s, alpha);
        alpha_bar_ = mul_rn(rotation.c, alpha);

        const double theta_bar = mul_rn(bar_.s, rho_);
        bar_ = Rotation::of(mul_rn(bar_.c, rho_), theta_, rho_bar_);
        zeta_ = mul_rn(bar_.c, zeta_bar_);
        zeta_bar_ = -mul_rn(bar_.s, zeta_bar_);

        of_h_bar_ = div_rn(div_rn(mul_rn(theta_bar, rho_), old_rho), old_rho_bar);
        of_x_ = div_rn(div_rn(zeta_, rho_), rho_bar_);
        of_h_ = div_rn(theta_, rho_);
        update_residual(rotation, theta_bar, old_zeta);
    }

    /// h_bar = h - of_h_bar h_bar, x = x + of_x h_bar, h = v - of_h h
    double of_h_bar() const { return of_h_bar_; }
    double of_x() const { return of_x_; }
    double of_h() const { return of_h_; }

    double residual() const { return residual_; }                    ///< ||r||
    double normal_residual() const { return magnitude(zeta_bar_); }  ///< ||A'r||

private:
    void update_residual(const Rotation& rotation, double theta_bar, double old_zeta) {
        const double beta_hat = mul_rn(rotation.c, beta_dd_);
        beta_dd_ = -mul_rn(rotation.s, beta_dd_);
        const double old_theta_tilde = theta_tilde_;
        double old_rho_tilde = 0;
        const Rotation tilde = Rotation::of(rho_d_, theta_bar, old_rho_tilde);
        theta_tilde_ = mul_rn(tilde.s, rho_bar_);
        rho_d_ = mul_rn(tilde.c, rho_bar_);
        beta_d_ = add_rn(mul_rn(tilde.c, beta_hat), -mul_rn(tilde.s, beta_d_));
        tau_tilde_ = div_rn(add_rn(old_zeta, -mul_rn(old_theta_tilde, tau_tilde_)), old_rho_tilde);
        const double tau_d = div_rn(add_rn(zeta_, -mul_rn(theta_tilde_, tau_tilde_)), rho_d_);
        double length = 0;
        Rotation::of(add_rn(beta_d_, -tau_d), beta_dd_, length);
        residual_ = length;
    }

    double alpha_ = 0, alpha_bar_ = 0;
    double rho_ = 1, rho_bar_ = 1, theta_ = 0;
    Rotation bar_;
    double zeta_ = 0, zeta_bar_ = 0;
    double of_h_bar_ = 0, of_x_ = 0, of_h_ = 0;
    double beta_d_ = 0, beta_dd_ = 0, rho_d_ = 1, tau_tilde_ = 0, theta_tilde_ = 0;
    double residual_ = 0;
};

}  // namespace solver
