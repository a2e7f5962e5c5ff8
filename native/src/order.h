// The stable order of floating-point numbers.
#pragma once

#include "kernels.h"
#include "radix.h"

#include <numeric>
#include <vector>

namespace radix {

// Sort some indices by their keys, stably, so that equal keys keep their order. Words of 64 bits hold the highest varying bits of
// the key and the place among the indices; keys that agree in these bits are sorted again by the others.
template <class Key, class Index>
void sort_indices(const Key *keys, Index *indices, std::size_t n) {
    if (n <= FEW) {
        for (std::size_t i = 1; i < n; ++i) {
            const Index index = indices[i];
            std::size_t j = i;
            for (; j && keys[indices[j - 1]] > keys[index]; --j) indices[j] = indices[j - 1];
            indices[j] = index;
        }
        return;
    }
    Key least = keys[indices[0]], greatest = least;
    bool rising = true, falling = true;
    Key before = least;
    for (std::size_t i = 1; i < n; ++i) {
        const Key key = keys[indices[i]];
        rising &= before <= key;
        falling &= before > key;
        least = std::min(least, key);
        greatest = std::max(greatest, key);
        before = key;
    }
    if (rising) return;
    if (falling) return std::reverse(indices, indices + n);
    const int place = bit_length(n - 1), range = bit_length(Key(greatest - least));
    const int left_out = std::max(0, range + place - 64);
    auto words = raw<std::uint64_t>(n), other = raw<std::uint64_t>(n);
    for (std::size_t i = 0; i < n; ++i)
        words[i] = std::uint64_t(Key(keys[indices[i]] - least) >> left_out) << place | i;
    auto sorted = raw<Index>(n);
    Index *to = sorted.get();
    const std::uint64_t mask = (std::uint64_t(1) << place) - 1;
    std::vector<std::size_t> runs;  // of keys that agree in all bits of their words: starts and ends
    std::uint64_t high = 0;
    std::size_t done = 0, start = 0;
    sort_into(words.get(), other.get(), n, [&](const std::uint64_t *piece, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) to[done + i] = indices[piece[i] & mask];
        if (left_out)
            for (std::size_t i = 0; i < size; ++i) {
                if (done + i && piece[i] >> place != high) {
                    if (done + i - start > 1) runs.insert(runs.end(), {start, done + i});
                    start = done + i;
                }
                high = piece[i] >> place;
            }
        done += size;
    });
    std::copy(to, to + n, indices);
    if (!left_out) return;
    if (n - start > 1) runs.insert(runs.end(), {start, n});
    words.reset(), other.reset(), sorted.reset();
    for (std::size_t k = 0; k < runs.size(); k += 2) sort_indices(keys, indices + runs[k], runs[k + 1] - runs[k]);
}

template <class T>
std::unique_ptr<typename KeyOf<T>::type[]> keys_of(const T *values, std::size_t n) {
    auto keys = raw<typename KeyOf<T>::type>(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = to_key(values[i]);
    return keys;
}

}  // namespace radix
