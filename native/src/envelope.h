// Lower and upper probability of all events over points, for as many instances as a vector has lanes. The sums are those of
// `hull_lattice` in src/uqassay/credal/lower_probability.py, in the same order.
#pragma once

#include "lanes.h"

#include <vector>

namespace envelope {

using lanes::greatest;
using lanes::least;
using lanes::width;

constexpr std::size_t BLOCK_BYTES = std::size_t(48) << 10;  // of the points that the innermost loop reads: stays in the cache

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

// A base event in the order of the loop, depth first, so that the sums without its last class are there already.
struct Base {
    std::size_t event;
    std::size_t last;    // class with the highest number
    std::size_t chosen;  // number of its classes
    bool kept;           // a later event has one class more
};

// The bits of r = 0, 1, …, in reverse, are the classes of an event.
inline std::vector<Base> depth_first(std::size_t depth) {
    std::vector<Base> order{{0, 0, 0, true}};
    std::size_t event = 0;
    for (std::size_t r = 1; r < std::size_t(1) << depth; ++r) {
        std::size_t last = depth - 1, chosen = 1;
        for (std::size_t bits = r; bits % 2 == 0; bits /= 2) --last;
        event &= (std::size_t(1) << last) - 1;
        for (std::size_t bits = event; bits > 0; bits /= 2) chosen += bits % 2;
        event += std::size_t(1) << last;
        order.push_back({event, last, chosen, last + 1 < depth});
    }
    return order;
}

// The smallest even number of which `parts` make at least m.
inline std::size_t even_share(std::size_t m, std::size_t parts) { return ((m + parts - 1) / parts + 1) / 2 * 2; }

// Sizes of one group and its memory. Events are numbered in binary; half a lattice has those without the last class. A base
// event has none of the `top` classes with the highest numbers; the loop over points bounds its 2^top extensions at once.
template <class V>
struct Group {
    static constexpr int most_top = width<V> == 8 ? 3 : 2;  // 2^top lower and upper bounds fit the registers
    static constexpr std::size_t point_bytes = sizeof(V) * (most_top + 3);  // what `bound` reads and writes for a point
    const std::size_t n_points, n_classes, n_events;
    const int top;
    const std::size_t depth;     // classes of base events
    const std::size_t n_base;    // base events
    const std::size_t at_once;   // points of a block, an even number
    const std::size_t n_blocks;
    const std::vector<Base> bases;
    lanes::Room<V> points;        // (k, m)
    lanes::Room<V> sums;          // of a block over base events: zero, then with 0, 1, … classes, (2 + depth, at_once)
    lanes::Room<V> lower, upper;  // of all events over the blocks so far, if there are several
    const char *ahead = nullptr;  // points of the next group that have yet to be fetched
    std::size_t ahead_bytes = 0, share = 0;

    Group(std::size_t m, std::size_t k)
        : n_points(m), n_classes(k), n_events(std::size_t(1) << (k - 1)), top(int(std::min<std::size_t>(most_top, k - 1))),
          depth(k - 1 - std::size_t(top)), n_base(n_events >> top),
          at_once(even_share(m, (m * point_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES)), n_blocks((m + at_once - 1) / at_once),
          bases(depth_first(depth)), points(m * k), sums((2 + depth) * at_once), lower(n_blocks > 1 ? n_events : 0),
          upper(n_blocks > 1 ? n_events : 0) {}

    UQASSAY_INLINE const V *of_class(std::size_t c) { return points.get() + c * n_points; }

    // The next share of the next group's points comes into the cache while this group is worked on.
    UQASSAY_INLINE void fetch_share() {
        const std::size_t bytes = std::min(share, ahead_bytes);
#if defined(__GNUC__)
        for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(ahead + i, 0, 2);
#endif
        ahead += bytes;
        ahead_bytes -= bytes;
    }
};

// Points (m, k) of the instances from `row` on, as many as there are lanes; the array has n instances.
template <class T, class V>
UQASSAY_INLINE void load_points(const T *points, std::size_t row, std::size_t n, Group<V> &g) {
    const std::size_t m = g.n_points, size = m * g.n_classes, last = size - m;
    const std::size_t end = std::min<std::size_t>(row + width<V>, n), next_end = std::min<std::size_t>(end + width<V>, n);
    V *to = g.points.get();
    std::size_t at = 0;
    load<V>(points + row * size, size, end - row, [&](const V &p) {
        to[at] = p;
        at = at < last ? at + m : at - last + 1;
    });
    g.ahead = reinterpret_cast<const char *>(points + end * size);
    g.ahead_bytes = (next_end - end) * size * sizeof(T);
    g.share = (g.ahead_bytes / (g.n_base * g.n_blocks) / 64 + 1) * 64;
}

// What one call of `bound` reads and writes.
template <class V>
struct Event {
    const V *sums, *added;  // (m,): of the base event without its last class, and the points' values of that class
    V *total;               // (m,): their sum
    const V *top;           // the points' values of the first top class; those of the next one follow at `stride`
    std::size_t m, stride;
};

// Two points with the sums a and b meet the bounds of all events that add some of the top classes, from class t on.
template <int T, int t = 0, int e = 0, class V>
UQASSAY_INLINE void meet(const V *p, const V *q, std::size_t stride, const V &a, const V &b, V *low, V *high) {
    if constexpr (t == T) {
        lanes::bound_both(a, b, low[e], high[e]);
    } else {
        meet<T, t + 1, e>(p + stride, q + stride, stride, a, b, low, high);
        meet<T, t + 1, e + (1 << t)>(p + stride, q + stride, stride, lanes::plus(a, *p), lanes::plus(b, *q), low, high);
    }
}

// The points of a block meet the bounds of the 2^T events that add some of the T top classes to a base event. Its sums are kept
// if they are part of others.
template <int T, bool Kept, class V>
UQASSAY_INLINE void bound(const Event<V> &on, V *low, V *high) {
    for (std::size_t v = 0; v < on.m; v += 2) {
        const std::size_t w = std::min(v + 1, on.m - 1);  // an odd last point meets itself
        const V a = lanes::plus(on.sums[v], on.added[v]), b = lanes::plus(on.sums[w], on.added[w]);
        if constexpr (Kept) {
            on.total[v] = a;
            on.total[w] = b;
        }
        meet<T>(on.top + v, on.top + w, on.stride, a, b, low, high);
    }
}

// Calls `finish.template extensions<T>(a, low, high)` with the bounds of the 2^T events a, a + n_base, … for each base event a.
template <int T, class V, class Finish>
UQASSAY_INLINE void for_each_base(Group<V> &g, Finish &finish) {
    constexpr int E = 1 << T;
    V *const zero = g.sums.get(), *const sums = zero + g.at_once;
    for (std::size_t v = 0; v < g.at_once; ++v) zero[v] = lanes::all<V>(0.0);
    for (std::size_t block = 0, start = 0; block < g.n_blocks; ++block, start += g.at_once) {
        const std::size_t m = std::min(g.at_once, g.n_points - start);
        for (const Base &base : g.bases) {
            V *const total = sums + base.chosen * g.at_once;
            const V *const added = base.chosen > 0 ? g.of_class(base.last) + start : zero;
            const Event<V> on{total - g.at_once, added, total, g.of_class(g.depth) + start, m, g.n_points};
            V *const lower = g.lower.get() + base.event, *const upper = g.upper.get() + base.event;
            g.fetch_share();
            V low[E], high[E];
#pragma GCC unroll 8
            for (int e = 0; e < E; ++e) {
                low[e] = block == 0 ? lanes::all<V>(1e300) : lower[std::size_t(e) * g.n_base];
                high[e] = block == 0 ? lanes::all<V>(-1e300) : upper[std::size_t(e) * g.n_base];
            }
            if (base.kept)
                bound<T, true>(on, low, high);
            else
                bound<T, false>(on, low, high);
            if (block + 1 == g.n_blocks) {
                finish.template extensions<T>(base.event, low, high);
                continue;
            }
#pragma GCC unroll 8
            for (int e = 0; e < E; ++e) {
                lower[std::size_t(e) * g.n_base] = low[e];
                upper[std::size_t(e) * g.n_base] = high[e];
            }
        }
    }
}

template <class V, class Finish>
UQASSAY_INLINE void half_lattice(Group<V> &g, Finish &&finish) {
    switch (g.top) {
        case 0: return for_each_base<0>(g, finish);
        case 1: return for_each_base<1>(g, finish);
        case 2: return for_each_base<2>(g, finish);
        default: return for_each_base<Group<V>::most_top>(g, finish);
    }
}

}  // namespace envelope
