#include "kernel.cuh"

#include <solver/cuda.hpp>

#include <iostream>
#include <span>

int main() {
    const double a[] = {1e100, 1, -1e100, 3, 0.5, 0.25};
    const double b[] = {1, 1, 1, 1e-300, 1e-200, 2};
    const solver::cuda::DeviceArray<double> device_a(0, std::span<const double>(a), "a");
    const solver::cuda::DeviceArray<double> device_b(0, std::span<const double>(b), "b");
    const solver::cuda::DeviceArray<double> device_dots(0, 2, "dots");
    dots_of_rows<<<1, 64>>>(2, 3, device_a.data(), device_b.data(), device_dots.data());
    double dots[2];
    device_dots.copy_to(dots);
    std::cout << dots[0] << ' ' << dots[1] << '\n';
}
