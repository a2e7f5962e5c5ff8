// Floating-point numbers as unsigned keys of the same order, and radix sorts of such keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

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

// Keys of the numbers above and below which there is only nan.
template <class T>
inline typename KeyOf<T>::type key_of_infinity(bool negative) {
    return to_key(negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
}

template <class Word>
inline int bit_length(Word value) {
    int length = 0;
    for (int step = 4 * sizeof(Word); step; step /= 2)
        if (value >> step) value >>= step, length += step;
    return length + (value != 0);
}

constexpr std::size_t FEW = 32;            // sorted by insertion
constexpr std::size_t CACHED = 1 << 16;    // words whose sort stays within the cache of a core
constexpr int PARTITION_BITS = 10;         // digit of a pass over words outside the cache
constexpr int MOST_PASSES = 3, MOST_BITS = 10;

template <class Word>
inline void insert_sorted(Word *words, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i) {
        const Word word = words[i];
        std::size_t j = i;
        for (; j && words[j - 1] > word; --j) words[j] = words[j - 1];
        words[j] = word;
    }
}

// Hand the words to `sink(words, n)` in rising order, piece by piece. Both arrays are overwritten.
//
// A large array is first divided by its highest varying bits, a small one sorted by as many of its highest varying bits as tell
// nearly all its words apart. Words that agree in these bits are then sorted in the same way by the others. So the cost follows
// the number of words and hardly depends on their distribution.
template <class Word, class Sink>
void sort_into(Word *words, Word *other, std::size_t n, Sink &&sink) {
    if (n <= FEW) {
        insert_sorted(words, n);
        return sink(words, n);
    }
    Word least = words[0], greatest = words[0];
    bool rising = true;
    for (std::size_t i = 1; i < n; ++i) {
        rising &= words[i - 1] <= words[i];
        least = std::min(least, words[i]);
        greatest = std::max(greatest, words[i]);
    }
    if (rising) return sink(words, n);
    const int range = bit_length(Word(greatest - least));
    if (n > CACHED) {
        const int shift = range - std::min(range, PARTITION_BITS);
        std::vector<std::size_t> ends((Word(greatest - least) >> shift) + 2);
        for (std::size_t i = 0; i < n; ++i) ++ends[(Word(words[i] - least) >> shift) + 1];
        for (std::size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
        for (std::size_t i = 0; i < n; ++i) other[ends[Word(words[i] - least) >> shift]++] = words[i];
        std::size_t start = 0;  // `ends` has moved on by one place
        for (std::size_t k = 0; k + 1 < ends.size(); start = ends[k++])
            if (ends[k] > start) sort_into(other + start, words + start, ends[k] - start, sink);
        return;
    }
    // with 5 bits more than the number of words has, one pair of neighbours in 32 agrees in all of them
    const int wanted = std::min(range, bit_length(n) + 5);
    const int passes = (wanted + MOST_BITS - 1) / MOST_BITS, whole = (range + passes - 1) / passes;
    const int digit = whole <= MOST_BITS ? whole : (wanted + passes - 1) / passes;
    const int shift = std::max(0, range - passes * digit);
    const Word mask = (Word(1) << digit) - 1;
    std::uint32_t counts[MOST_PASSES][1 << MOST_BITS];
    for (int p = 0; p < passes; ++p) std::fill_n(counts[p], std::size_t(mask) + 1, 0u);
    for (std::size_t i = 0; i < n; ++i) {
        const Word high = Word(words[i] - least) >> shift;
        for (int p = 0; p < passes; ++p) ++counts[p][high >> p * digit & mask];
    }
    for (int p = 0; p < passes; ++p) {
        std::uint32_t start = 0;
        for (Word k = 0; k <= mask; ++k) start += std::exchange(counts[p][k], start);
        const int from = shift + p * digit;
        for (std::size_t i = 0; i < n; ++i) other[counts[p][Word(words[i] - least) >> from & mask]++] = words[i];
        std::swap(words, other);
    }
    if (shift == 0) return sink(words, n);
    std::size_t done = 0;
    for (std::size_t i = 1; i < n; ++i) {
        if (words[i - 1] <= words[i]) continue;
        const Word high = Word(words[i] - least) >> shift;
        std::size_t start = i - 1, end = i + 1;  // of the words that agree with this one
        while (start > done && Word(words[start - 1] - least) >> shift == high) --start;
        while (end < n && Word(words[end] - least) >> shift == high) ++end;
        if (end - start > FEW) {
            if (start > done) sink(words + done, start - done);
            sort_into(words + start, other + start, end - start, sink);
            done = end;
        } else {
            insert_sorted(words + start, end - start);
        }
        i = end;
    }
    if (n > done) sink(words + done, n - done);
}

}  // namespace radix
