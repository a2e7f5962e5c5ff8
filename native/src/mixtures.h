// Many mixtures of the same members side by side: LANES mixtures are the lanes of every vector, so that each mixture is computed
// in one fixed order on every processor, whatever the width of its vectors.
#pragma once

#include "network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__FMA__) || defined(__aarch64__) || (defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__clang__))
#define UQASSAY_FUSED
#endif

namespace mixtures {

constexpr int LANES = 16;
constexpr std::size_t COLUMNS = 64;  // probabilities of one mixture that are computed in one go

// Matrix products of BLAS accumulate by fused multiply-add in the order of the members; so do these. Where the processor may have
// none and the code is compiled only once, the products are rounded before they are added.
#if defined(UQASSAY_FUSED)
UQASSAY_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
UQASSAY_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
template <class T>
UQASSAY_INLINE T fused(T a, T b, T c) { return a * b + c; }
#endif

// A piece of the lanes: a vector where the compiler has them (GCC and Clang). Comparisons of wider vectors than the processor's
// would become scalar code; 32 bytes are a vector of AVX2.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
#define UQASSAY_VECTORS
template <class T>
struct PieceOf {
    typedef T type __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
};
template <class T>
using Piece = typename PieceOf<T>::type;
template <class T>
constexpr int PIECE = 32 / sizeof(T);
#endif

// Memory that starts at a cache line.
template <class T>
struct Lines {
    using value_type = T;
    Lines() = default;
    template <class U>
    Lines(const Lines<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(64))); }
    void deallocate(T *p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    template <class U>
    bool operator==(const Lines<U> &) const { return true; }
    template <class U>
    bool operator!=(const Lines<U> &) const { return false; }
};
template <class T>
using Buffer = std::vector<T, Lines<T>>;

// The greatest of `count` probabilities (count, LANES) of each lane and, in `right`, what `of` gives for its class: ties keep the
// earlier class.
template <class T, class Of>
UQASSAY_INLINE void take_greatest(const T *probs, std::size_t count, Of of, T *top, T *right) {
#ifdef UQASSAY_VECTORS
    using V = Piece<T>;
    constexpr int N = LANES / PIECE<T>;
    V most[N] = {}, is[N] = {};
    for (int q = 0; q < N; ++q) most[q] = reinterpret_cast<const V *>(probs)[q];
    for (int q = 0; q < N; ++q) is[q] = of(0) - V{};
    for (std::size_t c = 1; c < count; ++c) {
        const V *other = reinterpret_cast<const V *>(probs + c * LANES);
        const V now = of(c) - V{};
        for (int q = 0; q < N; ++q) is[q] = other[q] > most[q] ? now : is[q];
        for (int q = 0; q < N; ++q) most[q] = other[q] > most[q] ? other[q] : most[q];
    }
    for (int q = 0; q < N; ++q) reinterpret_cast<V *>(top)[q] = most[q];
    for (int q = 0; q < N; ++q) reinterpret_cast<V *>(right)[q] = is[q];
#else
    for (int l = 0; l < LANES; ++l) top[l] = probs[l];
    for (int l = 0; l < LANES; ++l) right[l] = of(0);
    for (std::size_t c = 1; c < count; ++c) {
        const T *other = probs + c * LANES, now = of(c);
        for (int l = 0; l < LANES; ++l) right[l] = other[l] > top[l] ? now : right[l];
        for (int l = 0; l < LANES; ++l) top[l] = other[l] > top[l] ? other[l] : top[l];
    }
#endif
}

template <class Key>
constexpr int GROUP = 32 / sizeof(Key);  // lanes that are sorted together: a vector of AVX2

// Weights (M, LANES) times probabilities (C, M): out (C, LANES).
template <class T>
UQASSAY_INLINE void mix(const T *weights, const T *probs, std::size_t m, std::size_t count, T *out) {
    std::size_t c = 0;
    for (; c + 4 <= count; c += 4) {
        const T *p0 = probs + c * m, *p1 = p0 + m, *p2 = p1 + m, *p3 = p2 + m;
        T a0[LANES] = {}, a1[LANES] = {}, a2[LANES] = {}, a3[LANES] = {};
        for (std::size_t k = 0; k < m; ++k) {
            const T *w = weights + k * LANES;
            const T x0 = p0[k], x1 = p1[k], x2 = p2[k], x3 = p3[k];
            for (int l = 0; l < LANES; ++l) a0[l] = fused(w[l], x0, a0[l]);
            for (int l = 0; l < LANES; ++l) a1[l] = fused(w[l], x1, a1[l]);
            for (int l = 0; l < LANES; ++l) a2[l] = fused(w[l], x2, a2[l]);
            for (int l = 0; l < LANES; ++l) a3[l] = fused(w[l], x3, a3[l]);
        }
        T *to = out + c * LANES;
        for (int l = 0; l < LANES; ++l) to[l] = a0[l];
        for (int l = 0; l < LANES; ++l) to[LANES + l] = a1[l];
        for (int l = 0; l < LANES; ++l) to[2 * LANES + l] = a2[l];
        for (int l = 0; l < LANES; ++l) to[3 * LANES + l] = a3[l];
    }
    for (; c < count; ++c) {
        T a[LANES] = {};
        for (std::size_t k = 0; k < m; ++k)
            for (int l = 0; l < LANES; ++l) a[l] = fused(weights[k * LANES + l], probs[c * m + k], a[l]);
        for (int l = 0; l < LANES; ++l) out[c * LANES + l] = a[l];
    }
}

// Sum of rows 0 … n − 1 of values (n, LANES) in the order in which NumPy sums a contiguous axis.
template <class T>
UQASSAY_INLINE void short_sum(const T *values, std::size_t n, T *out) {
    if (n < 8) {
        for (int l = 0; l < LANES; ++l) out[l] = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (int l = 0; l < LANES; ++l) out[l] += values[i * LANES + l];
        return;
    }
    T part[8][LANES];
    for (int j = 0; j < 8; ++j)
        for (int l = 0; l < LANES; ++l) part[j][l] = values[j * LANES + l];
    std::size_t i = 8;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; ++j)
            for (int l = 0; l < LANES; ++l) part[j][l] += values[(i + j) * LANES + l];
    for (int l = 0; l < LANES; ++l)
        out[l] = ((part[0][l] + part[1][l]) + (part[2][l] + part[3][l])) +
                 ((part[4][l] + part[5][l]) + (part[6][l] + part[7][l]));
    for (; i < n; ++i)
        for (int l = 0; l < LANES; ++l) out[l] += values[i * LANES + l];
}

template <class T>
void pairwise_sum(const T *values, std::size_t n, T *out) {
    if (n <= 128) return short_sum(values, n, out);
    const std::size_t half = n / 2 - n / 2 % 8;
    T other[LANES];
    pairwise_sum(values, half, out);
    pairwise_sum(values + half * LANES, n - half, other);
    for (int l = 0; l < LANES; ++l) out[l] += other[l];
}

// Sum of a row in the order of NumPy.
inline double row_sum(const double *values, std::size_t n) {
    if (n > 128) {
        const std::size_t half = n / 2 - n / 2 % 8;
        return row_sum(values, half) + row_sum(values + half, n - half);
    }
    double sum = 0.0;
    std::size_t i = 0;
    if (n >= 8) {
        double part[8];
        std::copy(values, values + 8, part);
        for (i = 8; i + 8 <= n; i += 8)
            for (std::size_t j = 0; j < 8; ++j) part[j] += values[i + j];
        sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < n; ++i) sum += values[i];
    return sum;
}

// Sort each lane of keys (n, LANES); `room` has as many.
template <class Key>
UQASSAY_INLINE void sort_lanes(Key *keys, Key *room, std::size_t n) {
    constexpr int g = GROUP<Key>;
    for (int first = 0; first < LANES; first += g) {
        for (std::size_t i = 0; i < n; ++i)
            for (int l = 0; l < g; ++l) room[i * g + l] = keys[i * LANES + first + l];
        network::sort<Key, g>(room, n);
        for (std::size_t i = 0; i < n; ++i)
            for (int l = 0; l < g; ++l) keys[i * LANES + first + l] = room[i * g + l];
    }
}

}  // namespace mixtures
