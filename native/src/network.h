// Sorting networks over lanes: the comparisons do not depend on the keys, so one sequence of them sorts every lane.
#pragma once

#include "kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

// Functions of vectors are inlined, so that no call passes one; their arrays are set in loops.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpsabi"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace network {

// Keys that are sorted side by side: N lanes, a vector where the compiler has them (GCC and Clang). It should be as wide as the
// processor's vectors, because comparisons of wider ones become scalar code.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
template <class Key, int N>
struct RowOf {
    typedef Key type __attribute__((vector_size(N * sizeof(Key)), aligned(alignof(Key)), may_alias));
    typedef Key held __attribute__((vector_size(N * sizeof(Key))));
};
template <class Key, int N>
using Row = typename RowOf<Key, N>::type;
template <class Key, int N>
using Held = typename RowOf<Key, N>::held;  // in a register

template <class V>
UQASSAY_INLINE void exchange(V &a, V &b) {
    const V low = a < b ? a : b, high = a > b ? a : b;  // the forms that become minimum and maximum
    a = low;
    b = high;
}

template <class Key, int N>
UQASSAY_INLINE Held<Key, N> all(Key value) {
    return value - Held<Key, N>{};
}
#else
template <class Key, int N>
struct Row {
    Key x[N];
};
template <class Key, int N>
using Held = Row<Key, N>;

template <class Key, int N>
UQASSAY_INLINE void exchange(Row<Key, N> &a, Row<Key, N> &b) {
    for (int l = 0; l < N; ++l) {
        const Key p = a.x[l], q = b.x[l];
        a.x[l] = q < p ? q : p;
        b.x[l] = q < p ? p : q;
    }
}

template <class Key, int N>
UQASSAY_INLINE Row<Key, N> all(Key value) {
    Row<Key, N> row;
    for (int l = 0; l < N; ++l) row.x[l] = value;
    return row;
}
#endif

// Keys in whose place numbers of type T are sorted that are not negative: whole numbers of 32 bits are compared faster.
template <class T>
using SameOrder = std::conditional_t<sizeof(T) == 4, std::int32_t, T>;

// Greatest key: rows beyond the last one have it.
template <class Key>
constexpr Key MOST = std::is_floating_point<Key>::value ? std::numeric_limits<Key>::infinity() : std::numeric_limits<Key>::max();

// Registers for rows: AVX-512, which alone has rows of 64 bytes, has 32.
template <class Key, int N>
constexpr int REGISTERS = sizeof(Held<Key, N>) == 64 ? 32 : 16;

// R rows `at`, of which those from n on are missing.
template <int R, bool Whole, class Key, int N, class At, class Work>
UQASSAY_INLINE void work_on(Row<Key, N> *rows, std::size_t n, At at, Work work) {
    Held<Key, N> r[R];
    for (int q = 0; q < R; ++q) {
        if (Whole || at(q) < n)
            r[q] = rows[at(q)];
        else
            r[q] = all<Key, N>(MOST<Key>);
    }
    work(r);
    for (int q = 0; q < R; ++q)
        if (Whole || at(q) < n) rows[at(q)] = r[q];
}

struct SortEight {  // 19 comparisons (Knuth, The Art of Computer Programming 3, 5.3.4)
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        exchange(r[0], r[1]), exchange(r[2], r[3]), exchange(r[4], r[5]), exchange(r[6], r[7]);
        exchange(r[0], r[2]), exchange(r[1], r[3]), exchange(r[4], r[6]), exchange(r[5], r[7]);
        exchange(r[1], r[2]), exchange(r[5], r[6]), exchange(r[0], r[4]), exchange(r[3], r[7]);
        exchange(r[1], r[5]), exchange(r[2], r[6]);
        exchange(r[1], r[4]), exchange(r[3], r[6]);
        exchange(r[2], r[4]), exchange(r[3], r[5]);
        exchange(r[3], r[4]);
    }
};

struct SortSixteen {  // 60 comparisons (Green; Knuth, ibid.)
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        for (int i = 0; i < 16; i += 2) exchange(r[i], r[i + 1]);
        for (int i = 0; i < 16; i += 4) exchange(r[i], r[i + 2]), exchange(r[i + 1], r[i + 3]);
        for (int i = 0; i < 4; ++i) exchange(r[i], r[i + 4]), exchange(r[i + 8], r[i + 12]);
        for (int i = 0; i < 8; ++i) exchange(r[i], r[i + 8]);
        exchange(r[5], r[10]), exchange(r[6], r[9]), exchange(r[3], r[12]), exchange(r[13], r[14]);
        exchange(r[4], r[8]), exchange(r[7], r[11]), exchange(r[1], r[2]);
        exchange(r[1], r[4]), exchange(r[7], r[13]), exchange(r[2], r[8]), exchange(r[11], r[14]);
        exchange(r[2], r[4]), exchange(r[5], r[6]), exchange(r[9], r[10]), exchange(r[11], r[13]);
        exchange(r[3], r[8]), exchange(r[7], r[12]);
        exchange(r[6], r[8]), exchange(r[10], r[12]), exchange(r[3], r[5]), exchange(r[7], r[9]);
        exchange(r[3], r[4]), exchange(r[5], r[6]), exchange(r[7], r[8]), exchange(r[9], r[10]), exchange(r[11], r[12]);
        exchange(r[6], r[7]), exchange(r[8], r[9]);
    }
};

struct Halve {  // three halvings of a bitonic sequence: strides 4, 2 and 1 of the rows here
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        exchange(r[0], r[4]), exchange(r[1], r[5]), exchange(r[2], r[6]), exchange(r[3], r[7]);
        exchange(r[0], r[2]), exchange(r[1], r[3]), exchange(r[4], r[6]), exchange(r[5], r[7]);
        exchange(r[0], r[1]), exchange(r[2], r[3]), exchange(r[4], r[5]), exchange(r[6], r[7]);
    }
};

struct HalveTwice {  // of rows 0 to 3 and of rows 4 to 7
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        exchange(r[0], r[2]), exchange(r[1], r[3]), exchange(r[4], r[6]), exchange(r[5], r[7]);
        exchange(r[0], r[1]), exchange(r[2], r[3]), exchange(r[4], r[5]), exchange(r[6], r[7]);
    }
};

struct HalveOnce {
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        exchange(r[0], r[1]), exchange(r[2], r[3]), exchange(r[4], r[5]), exchange(r[6], r[7]);
    }
};

struct Fold {  // the second run from its end, and two halvings of each half
    template <class V>
    UQASSAY_INLINE void operator()(V *r) const {
        exchange(r[0], r[7]), exchange(r[1], r[6]), exchange(r[2], r[5]), exchange(r[3], r[4]);
        exchange(r[0], r[2]), exchange(r[1], r[3]), exchange(r[4], r[6]), exchange(r[5], r[7]);
        exchange(r[0], r[1]), exchange(r[2], r[3]), exchange(r[4], r[5]), exchange(r[6], r[7]);
    }
};

// Rows R i … R i + R − 1 for all i.
template <int R, class Key, int N, class Work>
UQASSAY_INLINE void each(Row<Key, N> *rows, std::size_t n, Work work) {
    std::size_t i = 0;
    for (; i + R <= n; i += R) work_on<R, true, Key, N>(rows, n, [=](int q) { return i + q; }, work);
    if (i < n) work_on<R, false, Key, N>(rows, n, [=](int q) { return i + q; }, work);
}

// Halvings of bitonic sequences of 2 `stride` rows, with this stride and all smaller ones. Eight rows at a time stay in registers
// for three of them.
template <class Key, int N>
UQASSAY_INLINE void halve(Row<Key, N> *rows, std::size_t n, std::size_t stride) {
    for (; stride >= 8; stride /= 8) {
        const std::size_t least = stride / 4;
        for (std::size_t start = 0; start < n; start += 2 * stride)
            for (std::size_t i = start; i < start + least; ++i) {
                const auto at = [=](int q) { return i + q * least; };
                if (i + 7 * least < n)
                    work_on<8, true, Key, N>(rows, n, at, Halve{});
                else
                    work_on<8, false, Key, N>(rows, n, at, Halve{});
            }
    }
    if (stride == 4) each<8, Key, N>(rows, n, Halve{});
    if (stride == 2) each<8, Key, N>(rows, n, HalveTwice{});
    if (stride == 1) each<8, Key, N>(rows, n, HalveOnce{});
}

constexpr std::size_t PART = 256;  // rows that fit the first cache

// Merge the runs of `run` rows of each lane in pairs.
template <class Key, int N>
UQASSAY_INLINE void merge(Row<Key, N> *rows, std::size_t n, std::size_t run) {
    const std::size_t quarter = run / 4;
    for (std::size_t start = 0; start + run < n; start += 2 * run) {
        const std::size_t last = start + 2 * run - 1;
        for (std::size_t i = start; i < start + quarter; ++i) {
            // rows of the first run from its start, and those of the second one that meet them
            const auto at = [=](int q) { return q < 4 ? i + q * quarter : last - (i - start) - (7 - q) * quarter; };
            if (last - (i - start) < n)
                work_on<8, true, Key, N>(rows, n, at, Fold{});
            else
                work_on<8, false, Key, N>(rows, n, at, Fold{});
        }
    }
    const std::size_t part = std::max(quarter, PART);  // rows that the halvings below take one after the other
    for (std::size_t i = 0; i < n; i += part) halve<Key, N>(rows + i, std::min(part, n - i), quarter / 2);
}

// Sort each lane of n rows: runs of 8 or 16 by a network, then bitonic merges (Batcher). All comparisons have the smaller key in
// the earlier row, so that missing rows of the greatest key need no memory. Parts are sorted one by one.
template <class Key, int N>
UQASSAY_INLINE void sort(Key *keys, std::size_t n) {
    auto *rows = reinterpret_cast<Row<Key, N> *>(keys);
    for (std::size_t start = 0; start < n; start += PART) {
        const std::size_t size = std::min(PART, n - start);
        const bool sixteen = REGISTERS<Key, N> == 32 && size > 8;
        if (sixteen)
            each<16, Key, N>(rows + start, size, SortSixteen{});
        else
            each<8, Key, N>(rows + start, size, SortEight{});
        for (std::size_t run = sixteen ? 16 : 8; run < std::min(PART, size); run *= 2) merge<Key, N>(rows + start, size, run);
    }
    for (std::size_t run = PART; run < n; run *= 2) merge<Key, N>(rows, n, run);
}

}  // namespace network
