// Natural logarithms in lanes, from additions, multiplications and divisions alone: the same bits on every processor.
#pragma once

#include "lanes.h"

#include <cstring>

namespace logarithm {

using lanes::spread;

constexpr double ONE = 1.0, TWO = 2.0;

// a < b ? yes : no, lane by lane
#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
template <class V>
UQASSAY_INLINE V where_less(const V &a, const V &b, const V &yes, const V &no) {
    return a < b ? yes : no;
}
#else
template <class V>
UQASSAY_INLINE V where_less(const V &a, const V &b, const V &yes, const V &no) {
    V out;
    for (int i = 0; i < lanes::width<V>; ++i) out[i] = a[i] < b[i] ? yes[i] : no[i];
    return out;
}
#endif

// 2 artanh(s) / s − 2 of z = s² ≤ (3 − √8)²: the series, whose next term is below the rounding error
constexpr double SERIES[] = {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3};
constexpr double NEAR = 0.0294372515228594;  // (3 − √8)²: artanh(3 − √8) = ln(√2) / 2
template <class V>
UQASSAY_INLINE V artanh_excess(const V &z) {
    V sum = z * spread<V>(SERIES[0]);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
    for (int i = 1; i < 9; ++i) sum = z * (spread<V>(SERIES[i]) + sum);
    return sum;
}

constexpr double HALF_ROOT = 0x1.6a09e667f3bcdp-1, FRACTION = 0x0.fffffffffffffp-1022;  // √½; the bits below the exponent
constexpr double TWO_52 = 0x1p52, BIAS = 0x1p52 + 1023.0;
constexpr double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;  // k · LN2_HIGH is exact

// x = 2^k · m with √½ ≤ m < √2, of a normal number x > 0
template <class V>
UQASSAY_INLINE void split(const V &x, V &k, V &m) {
#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
    typedef std::uint64_t Bits __attribute__((vector_size(sizeof(V))));
    const Bits root = (Bits)spread<V>(HALF_ROOT), bits = (Bits)x + ((Bits)spread<V>(ONE) - root);
    k = (V)((bits >> 52) | (Bits)spread<V>(TWO_52));
    m = (V)((bits & (Bits)spread<V>(FRACTION)) + root);
#else
    const auto bits_of = [](double value) {
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    };
    const std::uint64_t root = bits_of(HALF_ROOT);
    for (int i = 0; i < lanes::width<V>; ++i) {
        const std::uint64_t bits = bits_of(x[i]) + (bits_of(ONE) - root);
        const std::uint64_t exponent = (bits >> 52) | bits_of(TWO_52), fraction = (bits & bits_of(FRACTION)) + root;
        std::memcpy(&k[i], &exponent, sizeof exponent);
        std::memcpy(&m[i], &fraction, sizeof fraction);
    }
#endif
    k = k - spread<V>(BIAS);
}

// ln x of normal numbers x > 0, to about one unit in the last place; ln 1 = 0
template <class V>
UQASSAY_INLINE V log(const V &x) {
    V k, m;
    split(x, k, m);
    const V s = (m - spread<V>(ONE)) / (m + spread<V>(ONE));
    const V of_m = s * (spread<V>(TWO) + artanh_excess<V>(s * s));
    return k * spread<V>(LN2_HIGH) + (of_m + k * spread<V>(LN2_LOW));
}

}  // namespace logarithm
