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

#if defined(__GNUC__) && !defined(__clang__)
template <int N>
struct IndexOf {
    typedef long long type __attribute__((vector_size(8 * N)));
};
#endif

// Rows and columns of the L vectors exchanged, by halves: log2 L steps.
template <int Step, class V>
UQASSAY_INLINE void transpose(V *rows) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(UQASSAY_PLAIN_LANES)
    constexpr int L = width<V>;
    typename IndexOf<L>::type even, odd;
#pragma GCC unroll 8
    for (int j = 0; j < L; ++j) {
        even[j] = j & Step ? L + j - Step : j;
        odd[j] = j & Step ? L + j : j + Step;
    }
#pragma GCC unroll 8
    for (int i = 0; i < L; ++i)
        if (!(i & Step)) {
            const V a = rows[i], b = rows[i + Step];
            rows[i] = __builtin_shuffle(a, b, even);
            rows[i + Step] = __builtin_shuffle(a, b, odd);
        }
#else
    for (int i = 0; i < width<V>; ++i)
        for (int j = 0; j < width<V>; ++j)
            if (!(i & Step) && (j & Step)) {
                const double moved = rows[i][j];
                rows[i][j] = rows[i + Step][j - Step];
                rows[i + Step][j - Step] = moved;
            }
#endif
    if constexpr (2 * Step < width<V>) transpose<2 * Step>(rows);
}

// Points (m, k) of `count` instances from row-major memory, class axis first; the last instance fills the unused lanes.
template <class T, class V>
UQASSAY_INLINE void load(const T *from, std::size_t m, std::size_t k, std::size_t count, V *to) {
    constexpr std::size_t L = width<V>;
    const T *rows[L];
    for (std::size_t i = 0; i < L; ++i) rows[i] = from + std::min(i, count - 1) * m * k;
    std::size_t j = 0, v = 0, c = 0;
    const auto put = [&](const V &p) {
        to[c * m + v] = p;
        if (++c == k) c = 0, ++v;
    };
    for (; j + L <= m * k; j += L) {
        V block[L];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < L; ++i)
#pragma GCC unroll 8
            for (std::size_t l = 0; l < L; ++l) block[i][l] = double(rows[i][j + l]);
        transpose<1>(block);
#pragma GCC unroll 8
        for (std::size_t l = 0; l < L; ++l) put(block[l]);
    }
    for (; j < m * k; ++j) {
        V p;
        for (std::size_t i = 0; i < L; ++i) p[i] = double(rows[i][j]);
        put(p);
    }
}

// Sizes of one group and its memory. Events are numbered in binary; half a lattice has those without the last class.
template <class V>
struct Group {
    static constexpr int most_top = width<V> == 8 ? 3 : 2;  // 2^top sums, lower and upper bounds fit the registers
    const std::size_t n_points, n_classes, n_events;
    const int top;              // classes whose sums stay in registers
    const int added;            // classes below them, at most two, added to an event of the table
    const std::size_t n_base;   // events of the table: of the other classes
    const std::size_t at_once;  // points whose sums fit the table
    lanes::Room<V> points, table, reference, lower, upper;

    Group(std::size_t m, std::size_t k)
        : n_points(m), n_classes(k), n_events(std::size_t(1) << (k - 1)), top(int(std::min<std::size_t>(most_top, k - 1))),
          added(int(std::min<std::size_t>(2, k - 1 - std::size_t(top)))), n_base(n_events >> (top + added)),
          at_once(std::max<std::size_t>(1, std::min(m, TABLE_BYTES / (sizeof(V) * n_base)))), points(m * k),
          table(at_once * n_base), reference(n_events), lower(n_events), upper(n_events) {}
};

// What one call of `bound` reads and writes.
template <class V>
struct Event {
    const V *sums;      // (m,) of the table
    const V *added;     // (2, stride) points of the added classes
    const V *top;       // (T, stride) points of the top classes
    std::size_t stride, m;
    V *lower, *upper;   // (2^T, step) bounds
    std::size_t step;
    bool first;         // no points came before
};

// Bounds of the 2^T events that add some of the T top classes to an event of the table and to the classes in `Added` (two bits).
template <int T, int Added, class V>
UQASSAY_INLINE void bound(const Event<V> &on) {
    constexpr int E = 1 << T;
    V low[E], high[E], s[E];
#pragma GCC unroll 8
    for (int e = 0; e < E; ++e) {
        low[e] = on.first ? lanes::all<V>(1e300) : on.lower[e * on.step];
        high[e] = on.first ? lanes::all<V>(-1e300) : on.upper[e * on.step];
    }
    for (std::size_t v = 0; v < on.m; ++v) {
        s[0] = on.sums[v];
        if constexpr ((Added & 1) != 0) s[0] = s[0] + on.added[v];
        if constexpr ((Added & 2) != 0) s[0] = s[0] + on.added[on.stride + v];
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
            const V p = on.top[t * on.stride + v];
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
        on.lower[e * on.step] = low[e];
        on.upper[e * on.step] = high[e];
    }
}

template <int T, class V>
UQASSAY_INLINE void bound_with(int added, const Event<V> &on) {
    switch (added) {
        case 0: return bound<T, 0>(on);
        case 1: return bound<T, 1>(on);
        case 2: return bound<T, 2>(on);
        default: return bound<T, 3>(on);
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
        const V *added = p + c * stride + start, *top = added + std::size_t(g.added) * stride;
        const std::size_t step = B << g.added;
        for (std::size_t a = 0; a < B; ++a)
            for (int x = 0; x < 1 << g.added; ++x) {
                const std::size_t event = a + std::size_t(x) * B;
                const Event<V> on{table + a * m, added, top, stride, m, g.lower.get() + event, g.upper.get() + event,
                                  step, start == 0};
                switch (g.top) {
                    case 0: bound_with<0>(x, on); break;
                    case 1: bound_with<1>(x, on); break;
                    case 2: bound_with<2>(x, on); break;
                    default: bound_with<Group<V>::most_top>(x, on);
                }
            }
    }
}

}  // namespace envelope
