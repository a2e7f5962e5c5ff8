// Classwise calibration error of mixtures in equally wide bins; a part of mixture_errors.cpp. A probability of a mixture lies between
// the least and the greatest one of the members, so it moves among few bins. Probabilities that move among the same bins follow each
// other, and their sums stay in registers.
#pragma once

#include "lanes.h"
#include "predicted.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace {

using namespace mixtures;

constexpr double BELOW = 4.0, ON_EDGE = 0x1p-23;  // as in mixture_evaluators.py

template <class T>
UQASSAY_INLINE T bins_per_unit(std::size_t n_bins) {
    return T(double(n_bins) * (1.0 - std::max(ON_EDGE, BELOW * double(std::numeric_limits<T>::epsilon()))));
}

// Mean of |sums| (n, LANES) over `by`, in place.
UQASSAY_INLINE void absolute_mean(double *sums, std::size_t n, double by, double *out) {
    for (std::size_t i = 0; i < n * LANES; ++i) sums[i] = std::fabs(sums[i]);
    pairwise_sum(sums, n, out);
    for (int l = 0; l < LANES; ++l) out[l] /= by;
}

constexpr std::size_t CHUNK = 256;  // moving probabilities of one mixture that are computed in one go

// Neighbouring columns whose probabilities move among the same bins.
struct Stretch {
    std::size_t begin, end, row, n_edges, first_edge;  // row: the first of the bins, counted on from class to class
};

template <class T>
struct Classwise {
    std::size_t n, m, n_classes, n_bins;
    std::vector<T> moving;              // (C, M): probabilities that can change their bin
    std::vector<Stretch> stretches;     // of all columns; none crosses a multiple of CHUNK
    std::vector<double> last_before_edge;  // (B,): greatest number that is not beyond edge e, from edge 0
    std::vector<Index> column;          // (K n): number among the moving ones, or −1
    std::vector<std::int32_t> settled;  // (K n): bin of a probability that stays
    std::vector<double> staying;        // (K B, M): sums of probabilities that stay

    std::size_t n_instances() const { return n; }
    std::size_t n_members() const { return m; }

    // `labels` holds the moving columns that happened, in rising order.
    void new_labels(const Index *labels, Space<T> &space) const {
        space.flags.assign(moving.size() / m, 0);
        space.settled.assign(n_classes * n_bins, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            if (labels[i] < 0 || std::size_t(labels[i]) >= n_classes) throw std::invalid_argument("a label is not a class");
            const std::size_t entry = std::size_t(labels[i]) * n + i;
            if (column[entry] >= 0)
                space.flags[std::size_t(column[entry])] = 1;
            else
                space.settled[std::size_t(settled[entry])] += 1.0;
        }
        space.labels.resize(space.flags.size());
        std::size_t count = 0;
        for (std::size_t c = 0; c < space.flags.size(); ++c) {
            space.labels[count] = std::int32_t(c);
            count += space.flags[c];
        }
        space.labels.resize(count);
    }
};

// Greatest number whose bin is not beyond edge e of n_bins.
template <class T>
T last_before(std::size_t e, std::size_t n_bins) {
    const T scale = bins_per_unit<T>(n_bins);
    T last = T(e) / scale;
    while (last * scale > T(e)) last = std::nextafter(last, T(0));
    for (T next; next = std::nextafter(last, T(2)), next * scale <= T(e);) last = next;
    return last;
}

// Add each probability (count, LANES), or 1, to the row of its bin. `last` holds the greatest number before each of the edges that
// the rows have between them, and `numbers` selects the columns; null: all. In single precision sums are exact in any order.
#if defined(UQASSAY_VECTORS) && !defined(UQASSAY_PLAIN_LANES)
template <class V, class T, int EDGES>
UQASSAY_INLINE void add_rows(const T *probs, const std::int32_t *numbers, std::size_t count, const double *last, double *rows) {
    constexpr int N = lanes::width<V>;
    constexpr bool EXACT = sizeof(T) < sizeof(double);
    typedef T Part __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
    const V none = {}, unit = 1.0 - none;
    V edge[EDGES + 1] = {};
    for (int e = 0; e < EDGES; ++e) edge[e] = last[e] - none;
    for (int l = 0; l < LANES; l += N) {
        V sum[EDGES + 1] = {};
        if (!EXACT)
            for (int e = 0; e <= EDGES; ++e) std::memcpy(&sum[e], rows + e * LANES + l, sizeof(V));
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t at = numbers ? std::size_t(numbers[c]) : c;
            const V p = __builtin_convertvector(*reinterpret_cast<const Part *>(probs + at * LANES + l), V);
            const V amount = numbers ? unit : p;
            if (EXACT) {  // sums of all probabilities beyond the edge before the row
                sum[0] += amount;
                for (int e = 0; e < EDGES; ++e) sum[e + 1] = p > edge[e] ? sum[e + 1] + amount : sum[e + 1];
            } else {
                V beyond = amount;
                for (int e = 0; e < EDGES; ++e) {
                    const V next = p > edge[e] ? amount : none;
                    sum[e] += beyond - next;
                    beyond = next;
                }
                sum[EDGES] += beyond;
            }
        }
        for (int e = 0; e <= EDGES; ++e) {
            V row = sum[e];
            if (EXACT) {
                std::memcpy(&row, rows + e * LANES + l, sizeof(V));
                row += e < EDGES ? sum[e] - sum[e + 1] : sum[e];
            }
            std::memcpy(rows + e * LANES + l, &row, sizeof(V));
        }
    }
}
#else
template <class V, class T, int EDGES>
UQASSAY_INLINE void add_rows(const T *probs, const std::int32_t *numbers, std::size_t count, const double *last, double *rows) {
    for (std::size_t c = 0; c < count; ++c) {
        const T *p = probs + (numbers ? std::size_t(numbers[c]) : c) * LANES;
        for (int l = 0; l < LANES; ++l) {
            std::size_t e = 0;
            while (e < EDGES && double(p[l]) > last[e]) ++e;
            rows[e * LANES + std::size_t(l)] += numbers ? 1.0 : double(p[l]);
        }
    }
}
#endif

constexpr std::size_t FEW_EDGES = 6;

struct AddStretches {
    // Columns count from `start` on; `happened` to `end_happened` are the moving columns of the labels.
    template <class V, class T>
    UQASSAY_INLINE static void run(const T *probs, std::size_t start, const Stretch *stretch, const Stretch *end,
                                   const std::int32_t *happened, const std::int32_t *end_happened, const double *last, double *sums,
                                   double *counts) {
        for (; stretch < end; ++stretch) {
            const std::int32_t *numbers = happened;
            while (happened < end_happened && std::size_t(*happened) < stretch->end) ++happened;
            const std::size_t count = std::size_t(happened - numbers), row = stretch->row * LANES;
            const double *edges = last + stretch->first_edge;
            add<V>(probs + (stretch->begin - start) * LANES, nullptr, stretch->end - stretch->begin, *stretch, edges, sums + row);
            if (count) add<V>(probs - start * LANES, numbers, count, *stretch, edges, counts + row);
        }
    }
    template <class V, class T>
    UQASSAY_INLINE static void add(const T *probs, const std::int32_t *numbers, std::size_t count, const Stretch &stretch,
                                   const double *last, double *rows) {
        switch (stretch.n_edges) {
            case 0: return add_rows<V, T, 0>(probs, numbers, count, last, rows);
            case 1: return add_rows<V, T, 1>(probs, numbers, count, last, rows);
            case 2: return add_rows<V, T, 2>(probs, numbers, count, last, rows);
            case 3: return add_rows<V, T, 3>(probs, numbers, count, last, rows);
            case 4: return add_rows<V, T, 4>(probs, numbers, count, last, rows);
            case 5: return add_rows<V, T, 5>(probs, numbers, count, last, rows);
            case FEW_EDGES: return add_rows<V, T, FEW_EDGES>(probs, numbers, count, last, rows);
        }
        for (std::size_t c = 0; c < count; ++c) {
            const T *p = probs + (numbers ? std::size_t(numbers[c]) : c) * LANES;
            for (int l = 0; l < LANES; ++l) {
                const auto row = std::lower_bound(last, last + stretch.n_edges, double(p[l])) - last;
                rows[row * LANES + l] += numbers ? 1.0 : double(p[l]);
            }
        }
    }
};

UQASSAY_CLONES void mixed(const float *w, const float *probs, std::size_t m, std::size_t count, float *out) {
    mix(w, probs, m, count, out);
}
UQASSAY_CLONES void mixed(const double *w, const double *probs, std::size_t m, std::size_t count, double *out) {
    mix(w, probs, m, count, out);
}
UQASSAY_CLONES void excess_of_classes(const double *stay, const double *counts, std::size_t n_all, double by, double *sums,
                                      double *out) {
    for (std::size_t i = 0; i < n_all * LANES; ++i) sums[i] = (stay[i] + sums[i]) - counts[i];
    absolute_mean(sums, n_all, by, out);
}

template <class T>
void run(const Classwise<T> &d, const T *weights, const double *exact, Space<T> &space, double *out) {
    const std::size_t n_all = d.n_classes * d.n_bins, n_moving = d.moving.size() / d.m;
    space.probs.resize(CHUNK * LANES);
    space.sums.assign(n_all * LANES, 0.0);
    space.counts.resize(2 * n_all * LANES);
    double *sums = space.sums.data(), *counts = space.counts.data(), *stay = counts + n_all * LANES;
    for (std::size_t b = 0; b < n_all; ++b)
        for (int l = 0; l < LANES; ++l) counts[b * LANES + l] = space.settled[b];
    const Stretch *stretch = d.stretches.data(), *const last = stretch + d.stretches.size();
    const std::int32_t *happened = space.labels.data(), *const end = happened + space.labels.size();
    for (std::size_t start = 0; start < n_moving; start += CHUNK) {
        const std::size_t count = std::min(CHUNK, n_moving - start);
        const Stretch *next = stretch;
        while (next < last && next->begin < start + count) ++next;
        const std::int32_t *later = std::lower_bound(happened, end, std::int32_t(start + count));
        mixed(weights, d.moving.data() + start * d.m, d.m, count, space.probs.data());
        lanes::run<AddStretches>(static_cast<const T *>(space.probs.data()), start, stretch, next, happened, later,
                                 d.last_before_edge.data(), sums, counts);
        stretch = next;
        happened = later;
    }
    mixed(exact, d.staying.data(), d.m, n_all, stay);
    excess_of_classes(stay, counts, n_all, double(d.n) * double(d.n_classes), sums, out);
}

template <class T>
std::unique_ptr<Classwise<T>> classwise(In<T, 2> moving, In<Index, 1> first_bin, In<Index, 1> column, In<Index, 1> settled,
                                        In<double, 2> staying, Index n_classes, Index n_bins) {
    auto d = std::make_unique<Classwise<T>>();
    d->n_classes = std::size_t(n_classes);
    d->n_bins = std::size_t(n_bins);
    d->n = column.shape(0) / d->n_classes;
    d->m = staying.shape(1);
    d->moving = copied<T>(moving);
    d->column = copied<Index>(column);
    d->settled = copied<std::int32_t>(settled);
    d->staying = copied<double>(staying);
    const auto first = copied<Index>(first_bin);
    const Index n_all = n_classes * n_bins, n_moving = Index(first_bin.shape(0));
    const auto outside = [](const auto &values, Index low, Index high) {
        return std::any_of(values.begin(), values.end(), [=](auto v) { return v < low || v >= high; });
    };
    if (moving.shape(0) != first_bin.shape(0) || moving.shape(1) != d->m || column.shape(0) != settled.shape(0) ||
        column.shape(0) % d->n_classes != 0 || Index(staying.shape(0)) != n_all || outside(d->column, -1, n_moving) ||
        outside(d->settled, 0, n_all) || outside(first, 0, n_all - n_bins + 1))
        throw std::invalid_argument("numbers of bins or columns do not fit");
    // Products with weights that are rounded, too, are off by less than this share.
    const T slack = T(double(d->m + 8) * double(std::numeric_limits<T>::epsilon())), scale = bins_per_unit<T>(d->n_bins);
    for (std::size_t e = 0; e < d->n_bins; ++e) d->last_before_edge.push_back(double(last_before<T>(e, d->n_bins)));
    for (std::size_t c = 0; c < first.size(); ++c) {
        const T *p = d->moving.data() + c * d->m;
        const auto ends = std::minmax_element(p, p + d->m);
        const auto bin = [&](T p) { return std::size_t(std::min(std::max(std::ceil(p * scale), T(1)), T(n_bins))) - 1; };
        const std::size_t low = bin(*ends.first * (T(1) - slack)), high = bin(*ends.second * (T(1) + slack));
        const std::size_t row = std::size_t(first[c]) + low;
        if (c % CHUNK && !d->stretches.empty() && d->stretches.back().row == row && d->stretches.back().n_edges == high - low &&
            d->stretches.back().first_edge == low + 1)
            ++d->stretches.back().end;
        else
            d->stretches.push_back({c, c + 1, row, high - low, low + 1});
    }
    return d;
}

}  // namespace
