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

// `size` numbers of each of `count` instances from row-major memory, one vector for each in turn to `put`; the last instance
// fills the unused lanes.
template <class V, class T, class Put>
UQASSAY_INLINE void load(const T *from, std::size_t size, std::size_t count, Put put) {
    constexpr std::size_t L = lanes::width<V>;
    const T *rows[L];
    for (std::size_t i = 0; i < L; ++i) rows[i] = from + std::min(i, count - 1) * size;
    std::size_t j = 0;
    for (; j + L <= size; j += L) {
        V block[L];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < L; ++i)
#pragma GCC unroll 8
            for (std::size_t l = 0; l < L; ++l) block[i][l] = double(rows[i][j + l]);
        transpose<1>(block);
#pragma GCC unroll 8
        for (std::size_t l = 0; l < L; ++l) put(block[l]);
    }
    for (; j < size; ++j) {
        V p;
        for (std::size_t i = 0; i < L; ++i) p[i] = double(rows[i][j]);
        put(p);
    }
}

// Sizes of one group and its memory. Events are numbered in binary; half a lattice has those without the last class.
template <class V>
struct Group {
    static constexpr int most_top = width<V> == 8 ? 3 : 2;  // 2^top lower and upper bounds fit the registers
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

// Points (m, k) of `count` instances.
template <class T, class V>
UQASSAY_INLINE void load_points(const T *from, std::size_t count, Group<V> &g) {
    V *to = g.points.get();
    load<V>(from, g.n_points * g.n_classes, count, [&to](const V &p) { *to++ = p; });
}

// What one call of `bound` reads and writes.
template <class V>
struct Event {
    const V *sums;        // (m,) of the table
    const V *points;      // (m, k), from the first added class on
    std::size_t m, k;
    V *lower, *upper;     // (2^T, step) bounds
    std::size_t step;
    bool first;           // no points came before
};

// Sum of point v over an event of the table and the classes in `Added` (two bits).
template <int Added, class V>
UQASSAY_INLINE V sum_of(const Event<V> &on, std::size_t v) {
    const V *p = on.points + v * on.k;
    V sum = on.sums[v];
    if constexpr ((Added & 1) != 0) sum = lanes::plus(sum, p[0]);
    if constexpr ((Added & 2) != 0) sum = lanes::plus(sum, p[1]);
    return sum;
}

// Two points with the sums a and b meet the bounds of all events that add some of the top classes, from class t on.
template <int T, int t = 0, int e = 0, class V>
UQASSAY_INLINE void meet(const V *p, const V *q, const V &a, const V &b, V *low, V *high) {
    if constexpr (t == T) {
        lanes::bound_both(a, b, low[e], high[e]);
    } else {
        meet<T, t + 1, e>(p, q, a, b, low, high);
        meet<T, t + 1, e + (1 << t)>(p, q, lanes::plus(a, p[t]), lanes::plus(b, q[t]), low, high);
    }
}

// Bounds of the 2^T events that add some of the T top classes to an event of the table and to the classes in `Added`.
template <int T, int Added, class V>
UQASSAY_INLINE void bound(const Event<V> &on, int added) {
    constexpr int E = 1 << T;
    V low[E], high[E];
#pragma GCC unroll 8
    for (int e = 0; e < E; ++e) {
        low[e] = on.first ? lanes::all<V>(1e300) : on.lower[e * on.step];
        high[e] = on.first ? lanes::all<V>(-1e300) : on.upper[e * on.step];
    }
    const V *top = on.points + added;
    for (std::size_t v = 0; v < on.m; v += 2) {
        const std::size_t w = std::min(v + 1, on.m - 1);  // an odd last point meets itself
        meet<T>(top + v * on.k, top + w * on.k, sum_of<Added>(on, v), sum_of<Added>(on, w), low, high);
    }
#pragma GCC unroll 8
    for (int e = 0; e < E; ++e) {
        on.lower[e * on.step] = low[e];
        on.upper[e * on.step] = high[e];
    }
}

template <int T, class V>
UQASSAY_INLINE void bound_with(int chosen, const Event<V> &on, int added) {
    switch (chosen) {
        case 0: return bound<T, 0>(on, added);
        case 1: return bound<T, 1>(on, added);
        case 2: return bound<T, 2>(on, added);
        default: return bound<T, 3>(on, added);
    }
}

template <class V>
UQASSAY_INLINE void half_lattice(Group<V> &g) {
    const std::size_t k = g.n_classes, B = g.n_base;
    const V zero = lanes::all<V>(0.0);
    const V *p = g.points.get();
    V *table = g.table.get(), *reference = g.reference.get();
    reference[0] = zero;
    for (std::size_t c = 0, n = 1; c + 1 < k; ++c, n *= 2)
        for (std::size_t a = 0; a < n; ++a) reference[n + a] = reference[a] + p[c];
    for (std::size_t start = 0; start < g.n_points; start += g.at_once, p += g.at_once * k) {
        const std::size_t m = std::min(g.at_once, g.n_points - start);
        for (std::size_t v = 0; v < m; ++v) table[v] = zero;
        std::size_t n = 1, c = 0;
        for (; n < B; ++c, n *= 2)
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t v = 0; v < m; ++v) table[(n + a) * m + v] = table[a * m + v] + p[v * k + c];
        const std::size_t step = B << g.added;
        for (std::size_t a = 0; a < B; ++a)
            for (int x = 0; x < 1 << g.added; ++x) {
                const std::size_t event = a + std::size_t(x) * B;
                const Event<V> on{table + a * m, p + c, m, k, g.lower.get() + event, g.upper.get() + event, step, start == 0};
                switch (g.top) {
                    case 0: bound_with<0>(x, on, g.added); break;
                    case 1: bound_with<1>(x, on, g.added); break;
                    case 2: bound_with<2>(x, on, g.added); break;
                    default: bound_with<Group<V>::most_top>(x, on, g.added);
                }
            }
    }
}

}  // namespace envelope
