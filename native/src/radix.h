// Floating-point numbers as unsigned keys of the same order, and a plain radix sort of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace radix {

template <class T>
struct KeyOf;
template <>
struct KeyOf<float> {
    using type = std::uint32_t;
};
template <>
struct KeyOf<double> {
    using type = std::uint64_t;
};

// Order of keys = order of numbers; −0 and 0 have one key. nan has a key above that of inf or below that of −inf.
template <class T>
inline typename KeyOf<T>::type to_key(T value) {
    using Key = typename KeyOf<T>::type;
    constexpr int last = 8 * sizeof(Key) - 1;
    value += T(0);  // −0 + 0 is 0
    Key bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits ^ ((Key(0) - (bits >> last)) | (Key(1) << last));
}

template <class T>
inline T from_key(typename KeyOf<T>::type key) {
    using Key = typename KeyOf<T>::type;
    constexpr int last = 8 * sizeof(Key) - 1;
    key ^= ((key >> last) - Key(1)) | (Key(1) << last);
    T value;
    std::memcpy(&value, &key, sizeof value);
    return value;
}

// Least significant digit first, 8 bits a pass, all histograms in one pass over the keys; a digit that all keys share
// is left out. Returns which of the two arrays holds the sorted keys.
template <class Key>
const Key *plain_sort(Key *keys, Key *other, std::size_t n) {
    constexpr int digits = sizeof(Key);
    static_assert(digits <= 8, "a histogram for each byte");
    std::size_t counts[digits][256] = {};
    for (std::size_t i = 0; i < n; ++i)
        for (int d = 0; d < digits; ++d) ++counts[d][keys[i] >> 8 * d & 255];
    for (int d = 0; d < digits; ++d) {
        std::size_t *count = counts[d], start = 0;
        if (n && count[keys[0] >> 8 * d & 255] == n) continue;
        for (int b = 0; b < 256; ++b) start += std::exchange(count[b], start);
        for (std::size_t i = 0; i < n; ++i) other[count[keys[i] >> 8 * d & 255]++] = keys[i];
        std::swap(keys, other);
    }
    return keys;
}

}  // namespace radix
