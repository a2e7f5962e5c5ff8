// Lower and upper probability of all events over points, for as many instances as a vector has lanes. The sums are those of
// `hull_lattice` in src/uqassay/credal/lower_probability.py, in the same order.
#pragma once

#include "lanes.h"

namespace envelope {

using lanes::greatest;
using lanes::least;
using lanes::width;

constexpr std::size_t TABLE_BYTES = std::size_t(1) << 18;  // sums of some points; fits the cache of a core with the bounds

// Callers check their input; this keeps a wrong call from reading outside of the arrays.
inline void check(std::size_t n_points, std::size_t n_classes) {
    if (n_points < 1 || n_classes < 1 || n_classes > 16) throw nb::value_error("needs at least one point and 1 to 16 classes");
}
inline void check_weights(std::size_t n_weights, std::size_t n_events) {
    if (n_weights != n_events) throw nb::value_error("needs one weight for each event");
}

// Points (m, k) of `count` instances from row-major memory, class axis first; the last instance fills the unused lanes.
template <class T, class V>
UQASSAY_INLINE void load(const T *from, std::size_t m, std::size_t k, std::size_t count, V *to) {
    constexpr std::size_t L = width<V>;
    const T *rows[L];
    for (std::size_t i = 0; i < L; ++i) rows[i] = from + std::min(i, count - 1) * m * k;
    for (std::size_t v = 0; v < m; ++v)
        for (std::size_t c = 0; c < k; ++c) {
            V p;
#pragma GCC unroll 8
            for (std::size_t i = 0; i < L; ++i) p[i] = double(rows[i][v * k + c]);
            to[c * m + v] = p;
        }
}

// Sizes of one group and its memory. Events are numbered in binary; half a lattice has those without the last class.
template <class V>
struct Group {
    static constexpr int most_top = width<V> == 8 ? 3 : 2;  // 2^top sums, lower and upper bounds fit the registers
    const std::size_t n_points, n_classes, n_events;
    const int top;              // classes added in registers
    const std::size_t n_base;   // events without the top classes
    const std::size_t at_once;  // points whose sums fit the table
    lanes::Room<V> points, table, reference, lower, upper;

    Group(std::size_t m, std::size_t k)
        : n_points(m), n_classes(k), n_events(std::size_t(1) << (k - 1)), top(int(std::min<std::size_t>(most_top, k - 1))),
          n_base(n_events >> top),
          at_once(std::max<std::size_t>(1, std::min(m, TABLE_BYTES / (sizeof(V) * n_base)))), points(m * k),
          table(at_once * n_base), reference(n_events), lower(n_events), upper(n_events) {}
};

// Bounds of the 2^T events that add some of the T top classes to event `a`, over the points in the table.
template <int T, class V>
UQASSAY_INLINE void bound(const V *sums, const V *top, std::size_t stride, std::size_t m, V *lower, V *upper, std::size_t step,
                          bool first) {
    constexpr int E = 1 << T;
    V low[E], high[E], s[E];
#pragma GCC unroll 8
    for (int e = 0; e < E; ++e) {
        low[e] = first ? lanes::all<V>(1e300) : lower[e * step];
        high[e] = first ? lanes::all<V>(-1e300) : upper[e * step];
    }
    for (std::size_t v = 0; v < m; ++v) {
        s[0] = sums[v];
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
            const V p = top[t * stride + v];
#pragma GCC unroll 8
            for (int e = 0; e < 1 << t; ++e) s[e + (1 << t)] = s[e] + p;
        }
#pragma GCC unroll 8
        for (int e = 0; e < E; ++e) {
            low[e] = least(s[e], low[e]);
            high[e] = greatest(s[e], high[e]);
        }
    }
#pragma GCC unroll 8
    for (int e = 0; e < E; ++e) {
        lower[e * step] = low[e];
        upper[e * step] = high[e];
    }
}

template <class V>
UQASSAY_INLINE void half_lattice(Group<V> &g) {
    const std::size_t stride = g.n_points, B = g.n_base;
    const V zero = lanes::all<V>(0.0);
    const V *p = g.points.get();
    V *table = g.table.get(), *reference = g.reference.get();
    reference[0] = zero;
    for (std::size_t c = 0, n = 1; c + 1 < g.n_classes; ++c, n *= 2)
        for (std::size_t a = 0; a < n; ++a) reference[n + a] = reference[a] + p[c * stride];
    for (std::size_t start = 0; start < g.n_points; start += g.at_once) {
        const std::size_t m = std::min(g.at_once, g.n_points - start);
        for (std::size_t v = 0; v < m; ++v) table[v] = zero;
        std::size_t n = 1, c = 0;
        for (; n < B; ++c, n *= 2)
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t v = 0; v < m; ++v) table[(n + a) * m + v] = table[a * m + v] + p[c * stride + start + v];
        const V *top = p + c * stride + start;
        for (std::size_t a = 0; a < B; ++a) {
            V *lower = g.lower.get() + a, *upper = g.upper.get() + a;
            const V *sums = table + a * m;
            switch (g.top) {
                case 0: bound<0>(sums, top, stride, m, lower, upper, B, start == 0); break;
                case 1: bound<1>(sums, top, stride, m, lower, upper, B, start == 0); break;
                case 2: bound<2>(sums, top, stride, m, lower, upper, B, start == 0); break;
                default: bound<Group<V>::most_top>(sums, top, stride, m, lower, upper, B, start == 0);
            }
        }
    }
}

}  // namespace envelope
