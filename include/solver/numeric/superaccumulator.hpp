#pragma once

/// The last resort of every exact sum: a fixed-point number wide enough for all products of two doubles, subnormals included.

#include "solver/numeric/expansion.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver {

/// How many digits a Superaccumulator has, how many bits each, and at which of all its bits the weight 1 is: even, for the
/// square root.
inline constexpr int superaccumulator_digits = 121;
inline constexpr int superaccumulator_digit_bits = 53;
inline constexpr int superaccumulator_unit = 3262;

/// The digits [first, end) of them.
struct DigitRange {
    int first;
    int end;

    constexpr int size() const noexcept { return end - first; }
};
inline constexpr DigitRange all_digits{0, superaccumulator_digits};

/// Those that up to 2^63 terms m 2^e reach, where m is an integer, lowest <= e, and |m| 2^e < 2^above. The sums are below
/// 2^(above + 63), so the last digit takes all carries. A term of 53 bits touches one digit above the one of its last bit, one
/// of 106 bits two: digit (unit + above) / 53 at most.
constexpr DigitRange digits_of_terms(int lowest, int above) noexcept {
    constexpr int most_terms_log2 = 63;
    return {(superaccumulator_unit + lowest) / superaccumulator_digit_bits,
            (superaccumulator_unit + above + most_terms_log2) / superaccumulator_digit_bits + 1};
}

/// What sums of numbers T, and of their products, need. Floats and their products are added as doubles, whose 53 bits reach
/// below the float's last one.
template <Real T>
inline constexpr DigitRange digits_of_sums = sizeof(T) == sizeof(double) ? digits_of_terms(-1074, 1024)
                                                                         : digits_of_terms(-149 - 52, 128);
template <Real T>
inline constexpr DigitRange digits_of_products = sizeof(T) == sizeof(double) ? digits_of_terms(-2 * 1074, 2048)
                                                                             : digits_of_terms(-2 * 149 - 52, 256);

/// std::bit_width, which nvcc 13.0 compiles for devices without a word, to 0.
SOLVER_HD int bit_width_of(std::uint64_t x) noexcept {
#if defined(__CUDA_ARCH__)
    return 64 - __clzll(static_cast<long long>(x));
#else
    return static_cast<int>(std::bit_width(x));
#endif
}

/// twice / 2 + (a rest below), in units of eta_T 2^exponent, rounded. Where the encoding of T is consecutive in the exponent, a
/// carry out of the significand lands in it, and subnormals need no case of their own.
template <Real T>
SOLVER_HD T round_half_even(std::uint64_t twice, bool rest, int exponent) noexcept {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,  // a format of software
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    static_assert(sizeof(Bits) == sizeof(T));
    constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
    constexpr int largest_exponent = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent;
    if (exponent > largest_exponent) return std::numeric_limits<T>::infinity();
    const std::uint64_t down = twice / 2;
    const bool up = (twice & 1) != 0 && (rest || (down & 1) != 0);
    return std::bit_cast<T>(static_cast<Bits>((static_cast<Bits>(exponent) << fraction_bits) + down + up));
}

/// Digits in memory of their own.
struct OwnDigits {
    static constexpr DigitRange range = all_digits;
    SOLVER_HD std::int64_t& operator[](int k) noexcept { return digit[k]; }
    SOLVER_HD std::int64_t operator[](int k) const noexcept { return digit[k]; }
    std::int64_t digit[superaccumulator_digits] = {};
};

/// Digits in somebody else's memory, zeros at first, every `stride` numbers one: side by side for the threads of a warp, which
/// may then touch any digit without getting into each other's way.
template <int stride>
struct StridedDigits {
    static constexpr DigitRange range = all_digits;
    SOLVER_HD std::int64_t& operator[](int k) const noexcept { return first[k * stride]; }
    std::int64_t* first;
};

/// Holds sum x_i + sum a_i b_i as an exact number, in any order and any merge tree; `result` rounds it once. Integer arithmetic
/// only, hence the same on every machine.
///
/// Digits: V = sum_k digit_k 2^(53 k - 3262), k < 121, each digit an int64 of which 53 bits are its own and 10 are room for
/// carries (Neal, arXiv 1505.05571, with 32-bit digits there). A double touches two digits, a product of doubles three. With
/// digits as wide as a significand, both halves of a product are shifted by the same amount and never overlap.
/// Cost (one core at 3.6 GHz, -O2): 2.4 ns a term, 4.2 ns a product of doubles, 80 ns to construct and round. Very many terms:
/// LargeSuperaccumulator.
/// Endurance: one term adds less than 2^53 in magnitude to a digit, so after 1021 terms the carries are resolved (automatic,
/// about 0.1 ns a term).
/// Capacity: |V| < 2^3161. The largest product is below 2^2048 and the smallest is 2^-2148, so any 2^42 products, then times
/// any double, then plus any 2^63 products, fit: 2^(2048 + 63) is below, and 2^(-2148 - 1074) > 2^-3262. 2^42, since alpha
/// times a digit takes three digits whatever its size: with V < 2^2090 the last of them is the 121st at most.
///
/// Inf and NaN are kept apart from V: a NaN, Inf - Inf or 0 Inf gives the canonical NaN; Inf or -Inf alone gives itself.
template <class Digits>
class BasicSuperaccumulator {
public:
    BasicSuperaccumulator() = default;

    /// Of digits found elsewhere, below 2^62 in magnitude, and the sum of what was not finite.
    SOLVER_HD explicit BasicSuperaccumulator(const Digits& digits, double special = 0) noexcept
        : digit_(digits), special_(special), pending_(endurance) {}

    /// Takes the other's V, in its own memory.
    template <class OtherDigits>
    requires(!std::is_same_v<OtherDigits, Digits>) SOLVER_HD_COLD BasicSuperaccumulator& operator=(
        const BasicSuperaccumulator<OtherDigits>& other) noexcept {
        static_assert(range.first == OtherDigits::range.first && range.end == OtherDigits::range.end);
        for (int k = range.first; k < range.end; ++k) digit_[k] = other.digit_[k];
        special_ = other.special_;
        pending_ = other.pending_;
        return *this;
    }

    /// V += x. Floats are promoted exactly.
    SOLVER_HD void add(double x) noexcept {
        const Parts p(x);
        if (!p.normal()) return add_unusual(x);
        make_room();
        const Place at(p.biased_exponent - 1 + eta_position);
        const std::int64_t m = with_sign(p.significand, p.sign);
        digit_[at.index] += static_cast<std::int64_t>((static_cast<std::uint64_t>(m) << at.shift) & digit_mask);
        digit_[at.index + 1] += m >> (digit_bits - at.shift);
    }

    /// V += (negative ? -1 : 1) magnitude 2^exponent, for exponents of doubles: -1074 to 971.
    SOLVER_HD void add_integer(std::uint64_t magnitude, bool negative, int exponent) noexcept {
        make_room();
        const Place at(static_cast<std::uint32_t>(exponent + unit_position));
        const std::int64_t sign = negative ? -1 : 0;
        const std::uint64_t upper = magnitude >> (digit_bits - at.shift);
        digit_[at.index] += with_sign(static_cast<std::int64_t>((magnitude << at.shift) & digit_mask), sign);
        digit_[at.index + 1] += with_sign(static_cast<std::int64_t>(upper & digit_mask), sign);
        digit_[at.index + 2] += with_sign(static_cast<std::int64_t>(upper >> digit_bits), sign);
    }

    /// V += a b, exactly: no underflow, no overflow.
    template <Real A, Real B>
    SOLVER_HD void add_product(A a, B b) noexcept {
        constexpr int digits_of_product = std::numeric_limits<A>::digits + std::numeric_limits<B>::digits;
        if constexpr (digits_of_product <= std::numeric_limits<double>::digits)
            add(mul_rn(static_cast<double>(a), static_cast<double>(b)));  // exact
        else
            add_double_product(static_cast<double>(a), static_cast<double>(b));
    }

    /// V += sum a_i, or sum a_i b_i: the work on several terms overlaps, which is worth much where one thread has little else
    /// to
    /// wait for.
    template <int count>
    SOLVER_HD void add_several(const double (&a)[count]) noexcept {
        bool finite = true;
        for (int i = 0; i < count; ++i) finite = finite && Parts(a[i]).finite();
        if (!finite) {
            for (int i = 0; i < count; ++i) add(a[i]);
            return;
        }
        if (pending_ > endurance - count) carry();
        pending_ += count;
        Place at[count] = {};
        std::int64_t low[count], high[count];
        for (int i = 0; i < count; ++i) {
            const Parts p = Parts::of_any(a[i]);
            const std::int64_t m = with_sign(p.significand, p.sign);
            at[i] = Place(p.biased_exponent - 1 + eta_position);
            low[i] = static_cast<std::int64_t>((static_cast<std::uint64_t>(m) << at[i].shift) & digit_mask);
            high[i] = m >> (digit_bits - at[i].shift);
        }
        for (int i = 0; i < count; ++i) {
            digit_[at[i].index] += low[i];
            digit_[at[i].index + 1] += high[i];
        }
    }
    template <int count>
    SOLVER_HD void add_several(const double (&a)[count], const double (&b)[count]) noexcept {
        bool finite = true;
        for (int i = 0; i < count; ++i) finite = finite && Parts(a[i]).finite() && Parts(b[i]).finite();
        if (!finite) {
            for (int i = 0; i < count; ++i) add_double_product(a[i], b[i]);
            return;
        }
        if (pending_ > endurance - count) carry();
        pending_ += count;
        ThreeDigits term[count];
        for (int i = 0; i < count; ++i) {
            const Parts p = Parts::of_any(a[i]);
            const Parts q = Parts::of_any(b[i]);
            term[i] = three_digits(p.biased_exponent + q.biased_exponent - 2 + product_position,
                                   with_sign(p.significand, p.sign ^ q.sign), q.significand);
        }
        for (int i = 0; i < count; ++i) add_digits(term[i]);
    }

    /// V += the other V.
    SOLVER_HD_COLD void merge(const BasicSuperaccumulator& other) noexcept {
        if (pending_ + other.pending_ + 1 > endurance) carry();  // what is carried counts as one more term
        for (int k = range.first; k < range.end; ++k) digit_[k] += other.digit_[k];
        pending_ += other.pending_ + 1;
        special_ = add_rn(special_, other.special_);
    }

    /// V *= alpha, exactly. Once in the life of an accumulator, and terms may be added afterwards; a second time, what leaves
    /// the capacity gives NaN rather than a wrong number.
    SOLVER_HD_COLD void multiply(double alpha) noexcept {
        static_assert(range.size() == superaccumulator_digits, "times alpha, V reaches any digit");
        if (!is_finite(alpha) || special_ != 0) {
            const double v = special_ != 0 ? special_ : sign();
            *this = BasicSuperaccumulator<OwnDigits>();
            return add_special(mul_rn(v, alpha));
        }
        carry();
        BasicSuperaccumulator<OwnDigits> product;
        const Parts p = Parts::of_any(alpha);
        const std::int64_t m = with_sign(p.significand, p.sign);
        for (int k = 0; k < range.end && m != 0; ++k) {
            if (digit_[k] == 0) continue;
            const int position = digit_bits * k + static_cast<int>(p.biased_exponent) - 1 - eta_exponent;
            if (position < 0 || position / digit_bits + 2 >= range.end) return add_special(canonical_nan<double>);
            product.add_at(static_cast<std::uint32_t>(position), digit_[k], m);
        }
        product.pending_ = 4;  // at most four digits of V reach one digit of the product
        *this = product;
    }

    /// RN(V), one rounding to nearest even, overflow to Inf, gradual underflow; +0 where that is zero.
    template <Real T>
    SOLVER_HD_COLD T result() const noexcept {
        if (special_ != 0) return canonical(static_cast<T>(special_));
        const Magnitude v(*this);
        if (v.is_zero()) return T(0);
        // kept: the position of the result's last bit
        const int kept = larger(v.leading_bit() - std::numeric_limits<T>::digits + 1, unit_position - eta_below_one<T>);
        const auto twice = static_cast<std::uint64_t>(v.shifted_right(kept - 1));
        const T rounded = round_half_even<T>(twice, v.any_bit_below(kept - 1), kept - (unit_position - eta_below_one<T>));
        return v.negative && rounded != T(0) ? -rounded : rounded;
    }

    /// RN(sqrt(V)) of the real number V; NaN for V < 0.
    template <Real T>
    SOLVER_HD_COLD T sqrt_result() const noexcept {
        if (special_ != 0) return special_ > 0 ? static_cast<T>(special_) : canonical_nan<T>;
        const Magnitude v(*this);
        if (v.is_zero()) return T(0);
        if (v.negative) return canonical_nan<T>;
        // floor(sqrt(V) / 2^j) = isqrt(floor(V / 4^j)); positions of sqrt(V) count from 2^(-unit_position / 2).
        const int eta_of_root = unit_position / 2 - eta_below_one<T>;
        const int kept = larger(v.leading_bit() / 2 - std::numeric_limits<T>::digits + 1, eta_of_root);
        const Uint128 square = v.shifted_right(2 * (kept - 1));
        const std::uint64_t twice = integer_sqrt(square);
        const bool rest = Uint128{twice} * twice != square || v.any_bit_below(2 * (kept - 1));
        return round_half_even<T>(twice, rest, kept - eta_of_root);
    }

    /// V as an Expansion, which is subtracted from V: what stays is 0, or what an Expansion<T> cannot hold.
    template <Real T>
    SOLVER_HD_COLD Expansion<T> take_expansion() noexcept {
        Expansion<T> taken;
        T next = result<T>();
        do {
            taken.component[taken.size++] = next;
            if (!is_finite(next)) return taken;
            add(-double{next});
            next = result<T>();
        } while (next != T(0));
        taken.is_exact = sign() == 0;
        return taken;
    }

    /// -1, 0 or 1: the sign of V (Inf and NaN apart).
    SOLVER_HD_COLD int sign() const noexcept {
        const Magnitude v(*this);
        return v.is_zero() ? 0 : (v.negative ? -1 : 1);
    }

    /// Leaves at most 2^52 + 2^11 in magnitude in every digit but the last, so that the digits of 1000 such sums may be
    /// added.
    SOLVER_HD_COLD void resolve_carries() noexcept { carry(); }

    SOLVER_HD double special() const noexcept { return special_; }  ///< 0, Inf, -Inf or NaN: the sum of all that was not finite

private:
    template <class>
    friend class BasicSuperaccumulator;
    __extension__ typedef __int128 Int128;
    __extension__ typedef unsigned __int128 Uint128;

    static constexpr DigitRange range = Digits::range;
    static constexpr int digit_bits = superaccumulator_digit_bits;
    static constexpr int endurance = 1021;  // 2^52 + 2^11 (carried) + 1022 2^53 (one more by merge) + 2^52 (carry) < 2^63
    static constexpr int eta_exponent = 1074;
    static constexpr int unit_position = superaccumulator_unit;
    static constexpr int eta_position = unit_position - eta_exponent;     // of the last bit of a subnormal
    static constexpr int product_position = eta_position - eta_exponent;  // of the last bit of the smallest product
    static constexpr std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;
    static constexpr std::uint64_t fraction_mask = digit_mask >> 1;

    static_assert(product_position / digit_bits * digit_bits >= eta_exponent, "multiply shifts down by at most eta_exponent");

    template <class T>
    static constexpr int eta_below_one = std::numeric_limits<T>::digits - std::numeric_limits<T>::min_exponent;  // 149, 1074

    /// x = (sign ? -1 : 1) significand 2^(biased_exponent - 1 - 1074) where normal() holds.
    struct Parts {
        SOLVER_HD explicit Parts(double x) noexcept {
            const auto bits = std::bit_cast<std::uint64_t>(x);
            sign = static_cast<std::int64_t>(bits) >> 63;
            significand = static_cast<std::int64_t>((bits & fraction_mask) | (fraction_mask + 1));
            biased_exponent = static_cast<std::uint32_t>(bits >> 52) & 0x7FF;
        }

        /// For any finite x: subnormals and zeros as if their exponent were the smallest.
        SOLVER_HD static Parts of_any(double x) noexcept {
            Parts p(x);
            const std::uint32_t below_normal = p.biased_exponent == 0 ? 1 : 0;
            p.significand -= static_cast<std::int64_t>(std::uint64_t{below_normal} << (digit_bits - 1));
            p.biased_exponent += below_normal;
            return p;
        }

        SOLVER_HD bool finite() const noexcept { return biased_exponent != 0x7FF; }

        SOLVER_HD bool normal() const noexcept { return biased_exponent - 1 < 0x7FE; }

        std::int64_t significand;
        std::int64_t sign;  ///< 0 or -1
        std::uint32_t biased_exponent;
    };

    /// The digit that holds a bit, and where in it.
    struct Place {
        Place() = default;
        SOLVER_HD explicit Place(std::uint32_t position) noexcept
            : index(static_cast<int>(position / std::uint32_t{digit_bits})), shift(position % std::uint32_t{digit_bits}) {}
        int index;
        std::uint32_t shift;
    };

    /// |V| with digits in [0, 2^53) between low and high (low > high for zero), and its sign.
    struct Magnitude {
        SOLVER_HD explicit Magnitude(const BasicSuperaccumulator& a) noexcept {
            high = range.end - 1;
            while (high >= range.first && a.digit_[high] == 0) --high;
            while (low < high && a.digit_[low] == 0) ++low;
            if (high < range.first) return;
            std::int64_t top = resolve(a, 1);
            negative = top < 0;
            if (negative) top = resolve(a, -1);
            digit[++high] = static_cast<std::uint64_t>(top);
            while (high >= low && digit[high] == 0) --high;
        }

        SOLVER_HD std::int64_t resolve(const BasicSuperaccumulator& a, std::int64_t sign) noexcept {
            std::int64_t carry = 0;
            for (int k = low; k <= high; ++k) {
                const std::int64_t v = sign * a.digit_[k] + carry;
                digit[k] = static_cast<std::uint64_t>(v) & digit_mask;
                carry = v >> digit_bits;
            }
            return carry;
        }

        SOLVER_HD bool is_zero() const noexcept { return high < low; }
        SOLVER_HD int leading_bit() const noexcept { return digit_bits * high + bit_width_of(digit[high]) - 1; }

        /// floor(|V| / 2^position), which the caller knows to fit.
        SOLVER_HD Uint128 shifted_right(int position) const noexcept {
            Uint128 value = 0;
            for (int k = larger(position / digit_bits, low); k <= high; ++k) {
                const int shift = digit_bits * k - position;
                if (shift >= 128) break;
                value |= shift < 0 ? Uint128{digit[k]} >> -shift : Uint128{digit[k]} << shift;
            }
            return value;
        }

        SOLVER_HD bool any_bit_below(int position) const noexcept {
            const Place at(static_cast<std::uint32_t>(position));
            std::uint64_t bits = 0;
            for (int k = low; k < at.index && k <= high; ++k) bits |= digit[k];
            if (at.index >= low && at.index <= high) bits |= digit[at.index] & ((std::uint64_t{1} << at.shift) - 1);
            return bits != 0;
        }

        std::uint64_t digit[range.end + 1];
        int low = range.first;
        int high;
        bool negative = false;
    };

    SOLVER_HD static int larger(int a, int b) noexcept { return a > b ? a : b; }
    SOLVER_HD static std::int64_t with_sign(std::int64_t magnitude, std::int64_t sign) noexcept {
        return (magnitude ^ sign) - sign;
    }

    SOLVER_HD void add_double_product(double a, double b) noexcept {
        const Parts p(a);
        const Parts q(b);
        if (!p.normal() || !q.normal()) return add_unusual_product(a, b);
        add_product_of(p, q);
    }

    SOLVER_HD void add_product_of(const Parts& p, const Parts& q) noexcept {
        make_room();
        const std::uint32_t position = p.biased_exponent + q.biased_exponent - 2 + product_position;
        add_at(position, with_sign(p.significand, p.sign ^ q.sign), q.significand);
    }

    /// Zeros, subnormals, Inf and NaN.
    SOLVER_HD_COLD void add_unusual(double x) noexcept {
        if (!is_finite(x)) return add_special(x);
        const Parts p = Parts::of_any(x);
        if (p.significand != 0) add_integer(static_cast<std::uint64_t>(p.significand), p.sign != 0, -eta_exponent);
    }

    SOLVER_HD_COLD void add_unusual_product(double a, double b) noexcept {
        if (!is_finite(a) || !is_finite(b)) return add_special(mul_rn(a, b));
        if (a != 0 && b != 0) add_product_of(Parts::of_any(a), Parts::of_any(b));
    }

    /// V += a b 2^(position - unit_position), |a| and |b| below 2^53.
    SOLVER_HD void add_at(std::uint32_t position, std::int64_t a, std::int64_t b) noexcept {
        add_digits(three_digits(position, a, b));
    }

    struct ThreeDigits {
        int index;
        std::int64_t part[3];
    };

    SOLVER_HD static ThreeDigits three_digits(std::uint32_t position, std::int64_t a, std::int64_t b) noexcept {
        const Place at(position);
        const Int128 product = Int128{a * 1024} * (b * 2);  // a b 2^11: the upper 64 bits are floor(a b / 2^53)
        const auto upper = static_cast<std::int64_t>(product >> 64);
        const std::uint64_t lower = static_cast<std::uint64_t>(product) >> 11;
        const std::uint64_t rest = digit_bits - at.shift;
        return {at.index,
                {static_cast<std::int64_t>((lower << at.shift) & digit_mask),
                 static_cast<std::int64_t>((lower >> rest) | ((static_cast<std::uint64_t>(upper) << at.shift) & digit_mask)),
                 upper >> rest}};
    }

    SOLVER_HD void add_digits(const ThreeDigits& term) noexcept {
        for (int i = 0; i < 3; ++i) digit_[term.index + i] += term.part[i];
    }

    SOLVER_HD void add_special(double x) noexcept { special_ = add_rn(special_, x); }

    SOLVER_HD void make_room() noexcept {
        if (pending_ >= endurance) carry();
        ++pending_;
    }

    /// Leaves at most 2^52 + 2^11 in magnitude in every digit but the last, without a chain through all digits.
    SOLVER_HD_COLD void carry() noexcept {
        std::int64_t from_below = 0;
        for (int k = range.first; k + 1 < range.end; ++k) {
            const std::int64_t up = (digit_[k] + (std::int64_t{1} << (digit_bits - 1))) >> digit_bits;
            digit_[k] += from_below - up * (std::int64_t{1} << digit_bits);
            from_below = up;
        }
        digit_[range.end - 1] += from_below;
        pending_ = 0;
    }

    /// floor(sqrt(a)) for a < 2^112: the double's root is off by a few units at most.
    SOLVER_HD static std::uint64_t integer_sqrt(Uint128 a) noexcept {
        auto root = static_cast<std::uint64_t>(sqrt_rn(static_cast<double>(a)));
        while (Uint128{root} * root > a) --root;
        while (Uint128{root + 1} * (root + 1) <= a) ++root;
        return root;
    }

    Digits digit_{};
    double special_ = 0;  ///< 0, Inf, -Inf or NaN: the sum of all that was not finite
    std::int32_t pending_ = 0;
};

using Superaccumulator = BasicSuperaccumulator<OwnDigits>;

}  // namespace solver
