// Rows of numbers in increasing order, and their sums in NumPy's order: one row in each lane.
#pragma once

#include "envelope.h"

namespace sorted_rows {

constexpr std::size_t MOST = 128;  // numbers of a row: NumPy adds up longer ones by halves

// Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M); a nan stays.
template <class V>
UQASSAY_INLINE void sort(V *x, std::size_t size) {
    std::size_t whole = 1;
    while (2 * whole < size) whole *= 2;
    for (std::size_t p = size > 1 ? whole : 0; p > 0; p /= 2)
        for (std::size_t q = whole, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (std::size_t i = 0; i + d < size; ++i)
                if ((i & p) == r) {
                    const V before = x[i], after = x[i + d];
                    x[i] = lanes::least(after, before);
                    x[i + d] = lanes::greatest(before, after);
                }
            if (q == p) break;
        }
}

// In NumPy's order for a row of at most 128 numbers: eight sums side by side.
template <class V>
UQASSAY_INLINE V sum(const V *x, std::size_t size) {
    V total = x[0];
    std::size_t i = 1;
    if (size >= 8) {
        V s[8];
        for (int j = 0; j < 8; ++j) s[j] = x[j];
        for (i = 8; i + 8 <= size; i += 8)
            for (int j = 0; j < 8; ++j) s[j] = s[j] + x[i + j];
        total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
    for (; i < size; ++i) total = total + x[i];
    return total;
}

}  // namespace sorted_rows
