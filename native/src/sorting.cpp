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

// Counts of the levels of a sorted sequence of words (level, membership), and what follows from them. Sums over some thousand
// words fit into 64 bits if they count from the first of these words on; `flush` adds them to the whole.
class Placements {
  public:
    std::uint64_t sizes[2] = {0, 0}, sums[2] = {0, 0}, ties[2] = {0, 0}, levels = 0;
    WideSum squares[2];

    template <class Word>
    UQASSAY_INLINE void operator()(const Word *words, std::size_t n) {
        Level level = level_;
        Some some = some_;
        for (std::size_t i = 0; i < n; ++i) {
            if (words[i] >> 1 != level.number) {
                if (!some.add(level)) large(level, some);
                level = {words[i] >> 1, 0, 0};
            }
            ++level.all;
            level.of_first += words[i] & 1;
        }
        level_ = level;
        some_ = some;
    }
    // No word of the current level will follow.
    void end_level() {
        if (!some_.add(level_)) large(level_, some_);
        level_ = {};
        flush(some_);
    }

  private:
    static constexpr std::uint64_t MOST = 1 << 16;

    struct Level {
        std::uint64_t number = 0, all = 0, of_first = 0;
    };
    // Some levels; placements are lower by the words before them.
    struct Some {
        std::uint64_t sizes[2] = {0, 0}, sums[2] = {0, 0}, squares[2] = {0, 0}, ties[2] = {0, 0}, levels = 0;

        // False if the numbers could become too large.
        UQASSAY_INLINE bool add(const Level &level) {
            if (sizes[0] + sizes[1] + level.all > MOST) return false;
            const std::uint64_t of[2] = {level.of_first, level.all - level.of_first};
            if (level.all == 1) {  // as below with fewer products
                const std::uint64_t placement = 2 * (of[0] ? sizes[1] : sizes[0]), square = placement * placement;
                for (int j = 0; j < 2; ++j) {
                    sums[j] += of[j] ? placement : 0;
                    squares[j] += of[j] ? square : 0;
                    ties[j] += of[j];
                }
            } else {
                for (int j = 0; j < 2; ++j) {
                    const std::uint64_t placement = 2 * sizes[1 - j] + of[1 - j];
                    sums[j] += of[j] * placement;
                    squares[j] += of[j] * placement * placement;
                    ties[j] += of[j] * of[j];
                }
            }
            sizes[0] += of[0];
            sizes[1] += of[1];
            levels += level.all > 0;
            return true;
        }
    };

    void flush(Some &some) {
        for (int j = 0; j < 2; ++j) {
            const std::uint64_t before = 2 * sizes[1 - j];
            sums[j] += some.sizes[j] * before + some.sums[j];
            squares[j].add_product(some.sizes[j] * before, before);
            squares[j].add_product(2 * some.sums[j], before);
            squares[j].add(0, some.squares[j]);
            ties[j] += some.ties[j];
        }
        for (int j = 0; j < 2; ++j) sizes[j] += some.sizes[j];
        levels += some.levels;
        some = {};
    }
    void large(const Level &level, Some &some) {
        flush(some);
        if (some.add(level)) return;
        const std::uint64_t of[2] = {level.of_first, level.all - level.of_first};
        for (int j = 0; j < 2; ++j) {
            const std::uint64_t placement = 2 * sizes[1 - j] + of[1 - j];
            sums[j] += of[j] * placement;
            squares[j].add_product(of[j] * placement, placement);
            ties[j] += of[j] * of[j];
        }
        for (int j = 0; j < 2; ++j) sizes[j] += of[j];
        ++levels;
    }

    Level level_;
    Some some_;
};

// Consecutive bins of keys: where the next word goes, and the key that its words count from.
template <class Key>
struct Part {
    std::uint32_t end;
    Key least;
};

// The words are divided into parts while they are made, so that the sort of a part stays within the cache: bins by the highest
// varying bits, counted and then joined. A word is the distance from the least key of its part and one bit for the sample.
template <class T>
bool placements(const T *values, const bool *first, std::size_t n, Placements &found) {
    using Key = typename radix::KeyOf<T>::type;
    constexpr int width = 8 * sizeof(Key);
    Key least = ~Key(0), greatest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Key key = radix::to_key(values[i]);
        least = std::min(least, key);
        greatest = std::max(greatest, key);
    }
    if (n == 0) return true;
    if (least < radix::key_of_infinity<T>(true) || greatest > radix::key_of_infinity<T>(false)) return false;
    const int range = radix::bit_length(Key(greatest - least));
    const int shift = range - std::min({range, MOST_BIN_BITS, std::max(1, radix::bit_length(n) - FEWER_BINS)});
    const auto bin = [&](Key key) { return std::size_t(key >> shift); };
    std::vector<std::uint32_t> counts(bin(greatest - least) + 1), part_of(counts.size());
    for (std::size_t i = 0; i < n; ++i) ++counts[bin(Key(radix::to_key(values[i]) - least))];
    // a distance has one bit less than a key
    const std::size_t most_bins = range < width ? counts.size() : (counts.size() + 1) / 2;
    const std::size_t enough = std::max(PART, n / MOST_PARTS);
    std::vector<Part<Key>> parts;
    std::size_t most = 0, size = 0, start = 0, from = 0;
    for (std::size_t b = 0; b < counts.size(); start += counts[b++]) {
        if (b == 0 || size + counts[b] > enough || b - from == most_bins) {
            parts.push_back({std::uint32_t(start), Key(Key(b) << shift)});
            size = 0, from = b;
        }
        size += counts[b];
        most = std::max(most, size);
        part_of[b] = std::uint32_t(parts.size() - 1);
    }
    auto words = raw<Key>(n), other = raw<Key>(most);
    for (std::size_t i = 0; i < n; ++i) {
        const Key key = radix::to_key(values[i]) - least;
        Part<Key> &part = parts[part_of[bin(key)]];
        words[part.end++] = Key((key - part.least) << 1) | Key(first[i]);
    }
    start = 0;
    for (const Part<Key> &part : parts) {
        if (part.end > start) radix::sort_into(words.get() + start, other.get(), part.end - start, found);
        found.end_level();
        start = part.end;
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
