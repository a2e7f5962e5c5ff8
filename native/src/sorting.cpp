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

// Counts of the levels of a sorted sequence of words (level, membership), and what follows from them.
class Placements {
  public:
    std::uint64_t sizes[2] = {0, 0}, sums[2] = {0, 0}, ties[2] = {0, 0}, levels = 0;
    WideSum squares[2];

    template <class Word>
    void operator()(const Word *words, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            if (words[i] >> 1 != level_) {
                end_level();
                level_ = words[i] >> 1;
            }
            ++all_;
            of_first_ += words[i] & 1;
        }
    }
    void end_level() {
        const std::uint64_t first = of_first_, second = all_ - of_first_;
        const std::uint64_t of_a_first = 2 * sizes[1] + second, of_a_second = 2 * sizes[0] + first;
        sums[0] += first * of_a_first;
        sums[1] += second * of_a_second;
        squares[0].add_product(first * of_a_first, of_a_first);
        squares[1].add_product(second * of_a_second, of_a_second);
        ties[0] += first * first;
        ties[1] += second * second;
        sizes[0] += first;
        sizes[1] += second;
        levels += all_ > 0;
        all_ = of_first_ = 0;
    }

  private:
    std::uint64_t level_ = 0, all_ = 0, of_first_ = 0;
};

// Where the words are: a small array is sorted as it is, a large one is divided by its highest bits while the words are made.
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
    if (n && (least < radix::key_of_infinity<T>(true) || greatest > radix::key_of_infinity<T>(false))) return false;
    const int range = n ? radix::bit_length(Key(greatest - least)) : 0;
    // a word loses the bits of its part and gains one for the sample
    const int wanted = n > radix::CACHED ? radix::PARTITION_BITS : range == width;
    const int shift = range - std::min(range, wanted);
    const auto part = [&](Key key) { return shift < width ? std::size_t(key >> shift) : 0; };
    std::vector<std::size_t> ends(n ? part(greatest - least) + 2 : 1);
    for (std::size_t i = 0; i < n; ++i) ++ends[part(Key(radix::to_key(values[i]) - least)) + 1];
    std::size_t most = 0;
    for (std::size_t k = 1; k < ends.size(); ++k) {
        most = std::max(most, ends[k]);
        ends[k] += ends[k - 1];
    }
    const Key mask = shift ? ~Key(0) >> (width - shift) : 0;
    auto words = raw<Key>(n), other = raw<Key>(most);
    for (std::size_t i = 0; i < n; ++i) {
        const Key key = radix::to_key(values[i]) - least;
        words[ends[part(key)]++] = Key((key & mask) << 1) | Key(first[i]);
    }
    std::size_t start = 0;
    for (std::size_t k = 0; k + 1 < ends.size(); start = ends[k++]) {
        if (ends[k] == start) continue;
        radix::sort_into(words.get() + start, other.get(), ends[k] - start, found);
        found.end_level();
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
