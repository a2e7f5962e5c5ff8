// Sorting by radix in the input's own dtype: orders, and the sums of placements of two samples.
#include "order.h"

#include <cstring>
#include <stdexcept>

namespace {

template <class T>
Out<T, 1> radix_sort(In<T, 1> values) {
    const std::size_t n = values.shape(0);
    auto sorted = raw<T>(n);
    {
        nb::gil_scoped_release release;
        using Key = typename radix::KeyOf<T>::type;
        auto keys = radix::keys_of(values.data(), n), other = raw<Key>(n);
        const Key *found = radix::plain_sort(keys.get(), other.get(), n);
        for (std::size_t i = 0; i < n; ++i) sorted[i] = radix::from_key<T>(found[i]);
    }
    return to_array(std::move(sorted), n);
}

template <class T>
Out<double, 1> midranks(In<T, 1> values) {
    const std::size_t n = values.shape(0);
    if (n >> 32) throw std::invalid_argument("fewer than 2^32 values");
    auto ranks = raw<double>(n);
    {
        nb::gil_scoped_release release;
        auto keys = radix::keys_of(values.data(), n);
        auto order = raw<std::uint32_t>(n);
        std::iota(order.get(), order.get() + n, 0u);
        radix::sort_indices(keys.get(), order.get(), n);
        for (std::size_t start = 0; start < n;) {
            std::size_t end = start + 1;
            while (end < n && keys[order[end]] == keys[order[start]]) ++end;
            const double rank = 0.5 * double(start + 1 + end);
            for (; start < end; ++start) ranks[order[start]] = rank;
        }
    }
    return to_array(std::move(ranks), n);
}

constexpr std::size_t PART = 1 << 13;              // words of a part, unless one bin has more
constexpr std::size_t MOST_PARTS = 512;            // about; parts of very many words are larger
constexpr int MOST_BIN_BITS = 16, FEWER_BINS = 4;  // words are 2⁴ times as many as bins, or more

// A sum of products that does not fit into 64 bits.
struct WideSum {
    std::uint64_t high = 0, low = 0;

    UQASSAY_INLINE void add_product(std::uint64_t a, std::uint64_t b) {  // b < 2³³
        const std::uint64_t upper = (a >> 32) * b, lower = (a & 0xffffffffu) * b;
        add(upper >> 32, upper << 32);
        add(0, lower);
    }
    UQASSAY_INLINE void add(std::uint64_t more_high, std::uint64_t more_low) {
        low += more_low;
        high += more_high + (low < more_low);
    }
    nb::object number() const { return (nb::int_(high) << nb::int_(64)) + nb::int_(low); }
};

// Sums over the sorted words (level, membership) of two samples, piece by piece; a piece may end within a level.
//
// Let b_k be the number of words of the second sample before word k = 0, 1, … of the first. Without ties Σ b, Σ b² and Σ k b
// tell all sums of both samples, because a word of the second sample is after word k for m0 − b_k words. In the order of the
// words, the first sample comes last among equal levels; levels of several words are corrected one by one.
class Placements {
  public:
    std::uint64_t sizes[2] = {0, 0}, sums[2] = {0, 0}, ties[2] = {0, 0}, levels = 0;
    WideSum squares[2];

    template <class Word>
    void operator()(const Word *words, std::size_t n) {
        std::size_t i = 0;
        while (i < n && words[i] >> 1 == level_) ++of_level_[~words[i++] & 1];
        if (i == n) return;
        end_level();
        level_ = words[n - 1] >> 1;
        while (n > i && words[n - 1] >> 1 == level_) ++of_level_[~words[--n] & 1];
        while (i < n) {
            std::size_t size = std::min(n - i, BLOCK);
            while (size > 0 && i + size < n && words[i + size - 1] >> 1 == words[i + size] >> 1) --size;
            if (size > 0) {
                add_block(words + i, size);
                i += size;
            } else {
                std::uint64_t of[2] = {0, 0};
                for (const Word level = words[i] >> 1; i < n && words[i] >> 1 == level; ++i) ++of[~words[i] & 1];
                add_level(of);
            }
        }
    }
    // No word of the current level will follow.
    void end_level() {
        if (of_level_[0] + of_level_[1] > 0) add_level(of_level_);
        of_level_[0] = of_level_[1] = 0;
    }

  private:
    static constexpr std::size_t BLOCK = 1 << 12;

    // Whole levels of at most BLOCK words; their sums fit into 64 bits if they count from the first of the words on.
    template <class Word>
    void add_block(const Word *words, std::size_t n) {
        std::uint16_t first[BLOCK], repeated[BLOCK];  // places: of the first sample, of words in the level of the one before
        first[0] = 0;
        std::size_t m1 = words[0] & 1, n_repeated = 0;
        for (std::size_t i = 1; i < n; ++i) {
            first[m1] = std::uint16_t(i);
            m1 += words[i] & 1;
            repeated[n_repeated] = std::uint16_t(i);
            n_repeated += (words[i] ^ words[i - 1]) < 2;
        }
        std::uint64_t b1 = 0, b2 = 0, kb = 0;
        for (std::size_t k = 0; k < m1; ++k) {
            const std::uint32_t b = first[k] - std::uint32_t(k);
            b1 += b;
            b2 += b * b;
            kb += std::uint32_t(k) * b;
        }
        const std::uint64_t m0 = n - m1, a1 = m0 * m1 - b1, a2 = m0 * m1 * m1 - 2 * kb - b1;
        const std::uint64_t of[2] = {m1, m0};
        std::uint64_t sum[2] = {2 * b1, 2 * a1}, square[2] = {4 * b2, 4 * a2};
        ties[0] += m1;
        ties[1] += m0;
        levels += n - n_repeated;
        std::size_t below = 0;  // members of the first sample below the level
        for (std::size_t r = 0; r < n_repeated;) {
            const std::size_t start = repeated[r] - 1u;
            std::size_t end = start + 1;
            while (r < n_repeated && repeated[r] == end) ++r, ++end;
            std::uint64_t p = 0;
            while (p < end - start && words[end - 1 - p] & 1) ++p;
            const std::uint64_t q = end - start - p;
            ties[0] += p * p - p;
            ties[1] += q * q - q;
            if (p == 0 || q == 0) continue;
            while (first[below] < start) ++below;
            sum[0] -= p * q;
            sum[1] += p * q;
            square[0] -= p * q * (4 * (start - below) + 3 * q);
            square[1] += p * q * (4 * below + p);
        }
        add(of, sum, square);
    }

    void add_level(const std::uint64_t (&of)[2]) {
        for (int j = 0; j < 2; ++j) {
            const std::uint64_t placement = 2 * sizes[1 - j] + of[1 - j];
            sums[j] += of[j] * placement;
            squares[j].add_product(of[j] * placement, placement);
            ties[j] += of[j] * of[j];
        }
        for (int j = 0; j < 2; ++j) sizes[j] += of[j];
        ++levels;
    }

    // Members with sums of placements that are lower by the members before them.
    void add(const std::uint64_t (&of)[2], const std::uint64_t (&sum)[2], const std::uint64_t (&square)[2]) {
        for (int j = 0; j < 2; ++j) {
            const std::uint64_t before = 2 * sizes[1 - j];
            sums[j] += of[j] * before + sum[j];
            squares[j].add_product(of[j] * before, before);
            squares[j].add_product(2 * sum[j], before);
            squares[j].add(0, square[j]);
        }
        for (int j = 0; j < 2; ++j) sizes[j] += of[j];
    }

    std::uint64_t level_ = 0, of_level_[2] = {0, 0};
};

template <class T>
using Bounds = std::pair<typename radix::KeyOf<T>::type, typename radix::KeyOf<T>::type>;

template <class T>
UQASSAY_INLINE Bounds<T> bounds_of(const T *values, std::size_t n) {
    auto least = radix::to_key(values[0]), greatest = least;
    for (std::size_t i = 1; i < n; ++i) {
        const auto key = radix::to_key(values[i]);
        least = std::min(least, key);
        greatest = std::max(greatest, key);
    }
    return {least, greatest};
}
UQASSAY_CLONES Bounds<float> bounds(const float *values, std::size_t n) { return bounds_of(values, n); }
UQASSAY_CLONES Bounds<double> bounds(const double *values, std::size_t n) { return bounds_of(values, n); }

// The words are divided into parts while they are made, so that the sort of a part stays within the cache: bins by the highest
// varying bits, counted and then joined. A word is the key without its highest bit, which a part shares, and one bit for the
// sample.
template <class T>
bool placements(const T *values, const bool *first, std::size_t n, Placements &found) {
    using Key = typename radix::KeyOf<T>::type;
    if (n == 0) return true;
    const auto [least, greatest] = bounds(values, n);
    if (least < radix::key_of_infinity<T>(true) || greatest > radix::key_of_infinity<T>(false)) return false;
    const int range = radix::bit_length(Key(greatest - least));
    const int shift = range - std::min({range, MOST_BIN_BITS, std::max(1, radix::bit_length(n) - FEWER_BINS)});
    const auto bin = [&](Key key) { return std::size_t(key >> shift); };
    std::vector<std::uint32_t> counts(bin(greatest - least) + 1), ends;
    std::vector<std::uint16_t> part_of(counts.size());
    for (std::size_t i = 0; i < n; ++i) ++counts[bin(Key(radix::to_key(values[i]) - least))];
    const std::size_t half = ~(~Key(0) >> 1) >> shift;  // the first bin of keys that have the highest bit
    const std::size_t enough = std::max(PART, n / MOST_PARTS);
    std::size_t most = 0, size = 0, start = 0;
    for (std::size_t b = 0; b < counts.size(); start += counts[b++]) {
        if (b == 0 || size + counts[b] > enough || b == half) {
            ends.push_back(std::uint32_t(start));
            size = 0;
        }
        size += counts[b];
        most = std::max(most, size);
        part_of[b] = std::uint16_t(ends.size() - 1);
    }
    auto words = raw<Key>(n), other = raw<Key>(most);
    for (std::size_t i = 0; i < n; ++i) {
        const Key key = radix::to_key(values[i]) - least;
        words[ends[part_of[bin(key)]]++] = Key(key << 1) | Key(first[i]);
    }
    start = 0;
    for (const std::uint32_t end : ends) {
        if (end > start) radix::sort_into(words.get() + start, other.get(), end - start, found);
        found.end_level();
        start = end;
    }
    return true;
}

template <class T>
nb::object placement_sums(In<T, 1> values, In<bool, 1> first) {
    const std::size_t n = values.shape(0);
    if (first.shape(0) != n) throw std::invalid_argument("one membership for each value");
    if (n >> 31) throw std::invalid_argument("fewer than 2^31 values");
    Placements found;
    bool defined;
    {
        nb::gil_scoped_release release;
        defined = placements(values.data(), first.data(), n, found);
    }
    if (!defined) return nb::none();
    return nb::make_tuple(nb::make_tuple(found.sizes[0], found.sizes[1]), nb::make_tuple(found.sums[0], found.sums[1]),
                          nb::make_tuple(found.squares[0].number(), found.squares[1].number()),
                          nb::make_tuple(found.ties[0], found.ties[1]), found.levels);
}

}  // namespace

void bind_sorting(nb::module_ &m) {
    m.def("midranks", &midranks<float>, nb::arg("values").noconvert());
    m.def("midranks", &midranks<double>, nb::arg("values").noconvert(),
          "Ranks 1 … n of float32 or float64 values (n,) without nan; equal values have the mean of their ranks.");
    m.def("placement_sums", &placement_sums<float>, nb::arg("values").noconvert(), nb::arg("first").noconvert());
    m.def("placement_sums", &placement_sums<double>, nb::arg("values").noconvert(), nb::arg("first").noconvert(),
          "Sums over two samples, for values (n,) and membership of the first sample (n,); None if a value is nan. A placement is\n"
          "twice the number of values of the other sample below, plus the number of equal ones. Returns five entries, each but\n"
          "the last one for the first and the second sample: sizes, sums of placements, sums of their squares, sums of squared\n"
          "numbers of equal values, and the number of different values.");
    nb::module_ yardsticks = m.def_submodule("yardsticks", "What benchmarks compare with; no part of the package calls it.");
    yardsticks.def("radix_sort", &radix_sort<float>, nb::arg("values").noconvert());
    yardsticks.def("radix_sort", &radix_sort<double>, nb::arg("values").noconvert(),
                   "Sorted copy of float32 or float64 values (n,) by the plain radix sort of textbooks.");
}
