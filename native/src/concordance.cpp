// Concordant pairs of two orders, for every instance, in O(n log n).
#include "order.h"

#include <stdexcept>

namespace {

// Numbers below 2³¹, not set to zero.
struct Counts {
    std::unique_ptr<std::uint32_t[]> held;
    std::size_t size = 0;

    Counts() = default;
    explicit Counts(std::size_t n) : held(raw<std::uint32_t>(n)), size(n) {}
    std::uint32_t &operator[](std::size_t i) { return held[i]; }
    std::uint32_t operator[](std::size_t i) const { return held[i]; }
    std::uint32_t *begin() { return held.get(); }
    std::uint32_t *end() { return held.get() + size; }
    bool empty() const { return size == 0; }
};

Counts places(std::size_t n) {
    Counts found(n);
    std::iota(found.begin(), found.end(), 0u);
    return found;
}

constexpr std::size_t FEWEST_IN_TABLE = 64;
constexpr std::size_t LEAF = 16;  // entries that are compared pair by pair

// Entries of a permutation: the rank in the upper 32 bits, a count in the lower ones. Returns, by rank, the count plus twice the
// number of earlier entries that are smaller.
//
// A block of consecutive ranks, with its entries in the order of their places, is divided stably into its lower and its upper half
// of ranks, and each upper entry counts the lower ones before it. Depth first, so that small blocks stay in the cache. The address
// is computed, because a branch could not be predicted.
void count_smaller(std::uint64_t *entries, std::uint64_t *other, std::size_t n, std::uint32_t first, std::uint32_t *by_rank) {
    if (n <= LEAF) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t smaller = 0;
            for (std::size_t j = 0; j < i; ++j) smaller += entries[j] < entries[i];
            by_rank[entries[i] >> 32] = std::uint32_t(entries[i]) + 2 * smaller;
        }
        return;
    }
    std::size_t same = 1;  // entries at the beginning in rising order, and in falling order
    while (same < n && entries[same - 1] < entries[same]) ++same;
    if (same == n) {
        for (std::size_t i = 0; i < n; ++i) by_rank[first + i] = std::uint32_t(entries[i]) + 2 * std::uint32_t(i);
        return;
    }
    for (same = 1; same < n && entries[same - 1] > entries[same];) ++same;
    if (same == n) {
        for (std::size_t i = 0; i < n; ++i) by_rank[first + n - 1 - i] = std::uint32_t(entries[i]);
        return;
    }
    const std::size_t half = n / 2;
    const std::uint64_t middle = std::uint64_t(first + half) << 32;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t entry = entries[i];
        const std::uint64_t above = entry >= middle, all = 0 - above;  // all bits set, or none
        other[below + (all & (half + i - 2 * below))] = entry + (all & 2 * below);
        below += 1 - above;
    }
    count_smaller(other, entries, half, first, by_rank);
    count_smaller(other + half, entries + half, n - half, first + std::uint32_t(half), by_rank);
}

// Order of some keys, and for each place the first place of the same key. `starts` is empty if no two keys are equal.
template <class Key>
Counts sorted_order(const Key *keys, std::size_t n, Counts &starts) {
    Counts order = places(n);
    radix::sort_indices(keys, order.begin(), n);
    Key before = n ? keys[order[0]] : Key(0);
    std::uint32_t start = 0;
    for (std::size_t i = 1; i < n; ++i) {
        const Key key = keys[order[i]];
        if (key != before)
            start = std::uint32_t(i);
        else if (starts.empty())
            starts = places(n);
        if (!starts.empty()) starts[i] = start;
        before = key;
    }
    return order;
}

struct Pairs {
    double *concordant, *comparable, *tied;
};

// With p entries smaller by score, r by truth and b by both, n − 1 − p − r + b are greater by both: 2 b − p + n − 1 − r concordant.
void without_ties(const Counts &by_truth, const Counts &by_score, const Pairs &to) {
    const std::size_t n = by_truth.size;
    auto entries = raw<std::uint64_t>(n), other = raw<std::uint64_t>(n);
    for (std::size_t p = 0; p < n; ++p) entries[p] = std::uint64_t(by_score[p]) << 32 | (n - p);
    Counts count(n);  // 2 b + n − p
    count_smaller(entries.get(), other.get(), n, 0, count.begin());
    for (std::size_t r = 0; r < n; ++r) to.concordant[by_truth[r]] = double(count[r]) - double(r + 1);
    std::fill_n(to.comparable, n, double(n) - 1);
    std::fill_n(to.tied, n, 0.0);
}

// `by_score` holds, by place in the order of scores, the place in the order of truths.
void with_ties(const Counts &by_truth, Counts &starts_g, Counts &by_score, Counts &starts_s, const Pairs &to) {
    const std::size_t n = by_truth.size;
    for (Counts *starts : {&starts_g, &starts_s})
        if (starts->empty()) *starts = places(n);
    // equal scores by falling truth: then a tie never comes before a greater truth, and so never counts as smaller in both
    Counts ends_g(n), ends_s(n);
    for (std::size_t i = n; i--;) {
        ends_g[i] = i + 1 < n && starts_g[i + 1] == starts_g[i] ? ends_g[i + 1] : std::uint32_t(i + 1);
        ends_s[i] = i + 1 < n && starts_s[i + 1] == starts_s[i] ? ends_s[i + 1] : std::uint32_t(i + 1);
    }
    for (std::size_t i = 0; i < n; i = ends_s[i]) std::reverse(by_score.begin() + i, by_score.begin() + ends_s[i]);
    // equal truths have falling ranks with the place, so that none counts as smaller
    Counts next = places(n), rank(n), truth(n), twice(n);
    auto entries = raw<std::uint64_t>(n), other = raw<std::uint64_t>(n);
    for (std::size_t p = n; p--;) {
        truth[p] = starts_g[by_score[p]];
        rank[p] = next[truth[p]]++;
        entries[p] = std::uint64_t(rank[p]) << 32;
    }
    count_smaller(entries.get(), other.get(), n, 0, twice.begin());
    const auto total = std::int64_t(n);
    struct Found {
        std::int64_t twice_concordant;
        std::uint32_t comparable, tied;
    };
    auto found = raw<Found>(n);  // together, because each is written at a random place
    for (std::size_t start = 0; start < n;) {  // a cell holds the instances that tie in both: consecutive places
        const std::uint32_t at_g = truth[start];
        std::size_t end = start + 1;
        while (end < ends_s[start] && truth[end] == at_g) ++end;
        const std::int64_t up_to_g = ends_g[at_g], up_to_s = ends_s[start];
        const std::int64_t same_truth = up_to_g - rank[end - 1];      // and a score that is smaller or equal
        const std::int64_t same_score = up_to_s - std::int64_t(end);  // and a smaller truth
        const std::int64_t ties = up_to_s - starts_s[start] - std::int64_t(end - start);
        const std::int64_t others = total - up_to_g - up_to_s + same_truth + same_score;
        for (; start < end; ++start)
            found[by_truth[by_score[start]]] = {2 * (twice[rank[start]] + others) + ties,
                                                std::uint32_t(total - (up_to_g - at_g)), std::uint32_t(ties)};
    }
    for (std::size_t i = 0; i < n; ++i) {
        to.concordant[i] = 0.5 * double(found[i].twice_concordant);
        to.comparable[i] = found[i].comparable;
        to.tied[i] = found[i].tied;
    }
}

// The level of each value among its different values; `count` is 0 if these are too many.
struct FewLevels {
    Counts level;
    std::size_t count = 0;
};

FewLevels few_levels(const double *values, std::size_t n) {
    const std::size_t most = std::min<std::size_t>(4096, n / 2);
    const int bits = radix::bit_length(4 * most);
    constexpr std::uint32_t none = ~0u;
    std::vector<std::uint32_t> slots(std::size_t(1) << bits, none);  // open addressing, at most a quarter full
    std::vector<std::uint64_t> keys;
    Counts level(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = radix::to_key(values[i]);
        std::size_t slot = std::size_t(key * 0x9e3779b97f4a7c15u >> (64 - bits));
        while (slots[slot] != none && keys[slots[slot]] != key) slot = (slot + 1) & (slots.size() - 1);
        if (slots[slot] == none) {
            if (keys.size() == most) return {};
            slots[slot] = std::uint32_t(keys.size());
            keys.push_back(key);
        }
        level[i] = slots[slot];
    }
    std::vector<std::uint32_t> order(keys.size()), place(keys.size());
    std::iota(order.begin(), order.end(), 0u);
    radix::sort_indices(keys.data(), order.data(), order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = std::uint32_t(k);
    for (std::size_t i = 0; i < n; ++i) level[i] = place[level[i]];
    return {std::move(level), keys.size()};
}

// If both have few different values: instances in each cell of the table of both, and sums over its corners, without a sort.
bool count_in_table(const double *truth, const double *scores, std::size_t n, const Pairs &to) {
    if (n < FEWEST_IN_TABLE) return false;
    const FewLevels g = few_levels(truth, n);
    if (!g.count) return false;
    const FewLevels s = few_levels(scores, n);
    if (!s.count || g.count * s.count > 2 * n) return false;
    std::vector<std::uint32_t> cells(g.count * s.count), of_g(g.count), of_s(s.count);
    for (std::size_t i = 0; i < n; ++i) ++cells[g.level[i] * s.count + s.level[i]];
    for (std::size_t a = 0; a < g.count; ++a)
        for (std::size_t b = 0; b < s.count; ++b) {
            of_g[a] += cells[a * s.count + b];
            of_s[b] += cells[a * s.count + b];
        }
    std::vector<double> concordant(cells.size());
    std::vector<std::int64_t> column(s.count);  // in the rows up to and including this one
    std::int64_t up_to_g = 0;
    for (std::size_t a = 0; a < g.count; ++a) {
        up_to_g += of_g[a];
        std::int64_t below = 0, up_to_both = 0, up_to_s = 0;
        for (std::size_t b = 0; b < s.count; ++b) {
            const std::int64_t cell = cells[a * s.count + b];
            const std::int64_t earlier_rows = column[b];
            column[b] += cell;
            up_to_both += column[b];
            up_to_s += of_s[b];
            const std::int64_t above = std::int64_t(n) - up_to_g - up_to_s + up_to_both;
            concordant[a * s.count + b] = double(below + above) + 0.5 * double(std::int64_t(of_s[b]) - cell);
            below += earlier_rows;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = g.level[i] * s.count + s.level[i];
        to.concordant[i] = concordant[at];
        to.comparable[i] = double(n - of_g[g.level[i]]);
        to.tied[i] = double(of_s[s.level[i]] - cells[at]);
    }
    return true;
}

void count_pairs(const double *truth, const double *scores, std::size_t n, const Pairs &to) {
    if (count_in_table(truth, scores, n, to)) return;
    Counts starts_g, starts_s;
    const Counts by_truth = sorted_order(radix::keys_of(truth, n).get(), n, starts_g);
    auto keys = raw<std::uint64_t>(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = radix::to_key(scores[by_truth[i]]);
    Counts by_score = sorted_order(keys.get(), n, starts_s);
    keys.reset();
    if (starts_g.empty() && starts_s.empty())
        without_ties(by_truth, by_score, to);
    else
        with_ties(by_truth, starts_g, by_score, starts_s, to);
}

nb::tuple concordant_pairs(In<double, 1> truth, In<double, 1> scores) {
    const std::size_t n = truth.shape(0);
    if (scores.shape(0) != n) throw std::invalid_argument("one score for each truth");
    if (n >> 31) throw std::invalid_argument("fewer than 2^31 values");
    auto concordant = raw<double>(n), comparable = raw<double>(n), tied = raw<double>(n);
    {
        nb::gil_scoped_release release;
        count_pairs(truth.data(), scores.data(), n, Pairs{concordant.get(), comparable.get(), tied.get()});
    }
    return nb::make_tuple(to_array(std::move(concordant), n), to_array(std::move(comparable), n), to_array(std::move(tied), n));
}

}  // namespace

void bind_concordance(nb::module_ &m) {
    m.def("concordant_pairs", &concordant_pairs, nb::arg("truth").noconvert(), nb::arg("scores").noconvert(),
          "For truth and scores (n,) without nan, three arrays (n,): the number of other instances in the same order by both (equal\n"
          "scores count one half), of those with another truth, and of those with another truth and the same score.");
}
