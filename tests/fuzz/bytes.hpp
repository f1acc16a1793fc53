#pragma once

/// Decisions and numbers made of a fuzzer's bytes.

#include "fuzz/targets.hpp"
#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/numeric/complex.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace solver::fuzz {

/// Reads one byte after another, from the beginning again behind the end, so that a short input makes long vectors, too.
class Bytes {
public:
    explicit Bytes(Input input) : input_(input) {}

    std::uint8_t byte() {
        if (input_.empty()) return 0;
        return input_[at_++ % input_.size()];
    }

    /// One of 0, ..., count - 1.
    int below(int count) {
        const int low = byte();
        return (low | byte() << 8) % count;
    }

    bool coin() { return (byte() & 1) != 0; }

    template <class T>
    T bits() {
        unsigned char raw[sizeof(T)];
        for (unsigned char& each : raw) each = byte();
        T value;
        std::memcpy(&value, raw, sizeof(T));
        return value;
    }

    Accuracy accuracy() { return all_accuracies[static_cast<std::size_t>(below(3))]; }

private:
    Input input_;
    std::size_t at_ = 0;
};

/// Numbers that like to cancel, to tie, to overflow and to underflow, or are any bits.
template <class T>
class Numbers {
public:
    explicit Numbers(Bytes& bytes) : bytes_(bytes) {}

    T next() {
        last_ = made(bytes_.byte() % 12);
        return last_;
    }

    std::vector<T> vector(std::int64_t size) {
        std::vector<T> values(static_cast<std::size_t>(size));
        for (T& value : values) value = next();
        return values;
    }

private:
    static constexpr int digits = std::numeric_limits<T>::digits;

    T made(int kind) {
        switch (kind) {
            case 0:
            case 1:
                return bytes_.bits<T>();
            case 2:
                return static_cast<T>(bytes_.bits<std::int8_t>());
            case 3:
                return power_of_two();
            case 4:
                return -last_;
            case 5:
                return last_;
            case 6:
                return std::ldexp(last_, -digits);
            case 7:
                return last_ / 2;
            case 8:
                return std::nextafter(last_, T(0));
            case 9:
                return std::ldexp(static_cast<T>(bytes_.bits<std::int16_t>()), bytes_.bits<std::int8_t>());
            case 10:
                return std::numeric_limits<T>::denorm_min() * static_cast<T>(bytes_.bits<std::int8_t>());
            default:
                return bytes_.coin() ? std::numeric_limits<T>::max() : T(0);
        }
    }

    T power_of_two() {
        const int range = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent + digits;
        const T power = std::ldexp(T(1), bytes_.below(range) + std::numeric_limits<T>::min_exponent - digits);
        return bytes_.coin() ? power : -power;
    }

    Bytes& bytes_;
    T last_ = 1;
};

/// Each part is such a number; one of four is real, one imaginary.
template <class T>
class Numbers<std::complex<T>> {
public:
    explicit Numbers(Bytes& bytes) : bytes_(bytes), parts_(bytes) {}

    std::complex<T> next() {
        const int kind = bytes_.byte() % 4;
        const T re = kind == 0 ? T(0) : parts_.next();
        return {re, kind == 1 ? T(0) : parts_.next()};
    }

    std::vector<std::complex<T>> vector(std::int64_t size) {
        std::vector<std::complex<T>> values(static_cast<std::size_t>(size));
        for (std::complex<T>& value : values) value = next();
        return values;
    }

private:
    Bytes& bytes_;
    Numbers<T> parts_;
};

template <class S>
S conjugate(S x) {
    if constexpr (is_complex<S>)
        return std::conj(x);
    else
        return x;
}

/// Calls f with a number of one of the four types.
template <class F>
void for_any_scalar(Bytes& bytes, const F& f) {
    switch (bytes.byte() % 4) {
        case 0:
            return f(float{});
        case 1:
            return f(double{});
        case 2:
            return f(std::complex<float>{});
        default:
            return f(std::complex<double>{});
    }
}

/// Two now and then.
inline Device some_threads(Bytes& bytes) { return Device::cpu(1 + bytes.byte() % 16 / 15); }

}  // namespace solver::fuzz
