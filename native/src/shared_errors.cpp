// Calibration errors of the same mixtures for many draws of labels, in double precision: twins of `MixtureObjective.shared`.
// A mixture is prepared once; then LANES draws of labels are the lanes.
#include "predicted.h"

#include <nanobind/stl/unique_ptr.h>

#include <cstring>
#include <numeric>

namespace {

using namespace mixtures;

// Labels of LANES draws, from draw t on, side by side (n, LANES); draws after the last repeat it. They are doubles, so that a
// comparison is as wide as the sums that it chooses from.
void labels_side_by_side(const Index *labels, std::size_t n_draws, std::size_t n, std::size_t t, double *out) {
    for (std::size_t l = 0; l < LANES; ++l) {
        const Index *from = labels + std::min(t + l, n_draws - 1) * n;
        for (std::size_t i = 0; i < n; ++i) out[i * LANES + l] = double(from[i]);
    }
}

// One mixture: its instances in rising order of their greatest probability, or bin after bin, with the class of this probability.
struct Prepared {
    std::vector<double> top, event, expected;
    std::vector<std::size_t> order;
    std::vector<std::uint8_t> ends;    // whether the next greatest probability is greater
    std::vector<std::size_t> stop;     // of each bin
};

// Greatest probabilities (n, LANES) of a block of mixtures, and their classes, in the order of the instances.
UQASSAY_CLONES void block_of(const Predicted<double> &d, const double *weights, double *buffer, double *top, double *event) {
    for (std::size_t start = 0; start < d.n;) {
        const std::size_t stop = next_part(d, start);
        const Index from = d.first[start];
        mix(weights, d.probs.data() + from * d.m, d.m, std::size_t(d.first[stop] - from), buffer);
        for (std::size_t j = start; j < stop; ++j) {
            const std::int32_t *cls = d.classes.data() + d.first[j];
            take_greatest(buffer + (d.first[j] - from) * LANES, std::size_t(d.first[j + 1] - d.first[j]),
                          [=](std::size_t c) { return double(cls[c]); }, top + d.order[j] * LANES, event + d.order[j] * LANES);
        }
        start = stop;
    }
}

constexpr std::size_t PACKED = 4096;  // instances whose number fits into the last twelve bits of a key

// Keys (n, LANES) of a block, each lane in rising order: the first 52 bits of the greatest probability above the least one, and the
// number of the instance.
UQASSAY_CLONES void sort_block(const double *top, std::size_t n, std::uint64_t *keys, std::uint64_t *room) {
    std::memcpy(keys, top, n * LANES * sizeof(double));  // bits of a positive number rise with it
    std::uint64_t least = ~std::uint64_t(0), most = 0;
    for (std::size_t i = 0; i < n * LANES; ++i) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
    }
    int drop = 0;
    while ((most - least) >> drop >> 52) ++drop;
    for (std::size_t i = 0; i < n; ++i)
        for (int l = 0; l < LANES; ++l) keys[i * LANES + l] = (keys[i * LANES + l] - least) >> drop << 12 | i;
    sort_lanes(keys, room, n);
}

// Order of the instances of one mixture by value and then by number, from an order that is nearly this one.
void sort_into(Prepared &one, const std::uint64_t *keys, const double *top, std::size_t n) {
    one.order.resize(n);
    const auto value = [top](std::size_t i) { return top[i * LANES]; };
    if (!keys) {
        std::iota(one.order.begin(), one.order.end(), std::size_t(0));
        std::stable_sort(one.order.begin(), one.order.end(), [=](std::size_t a, std::size_t b) { return value(a) < value(b); });
    } else {
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t i = keys[j * LANES] & (PACKED - 1);
            std::size_t to = j;
            for (; to > 0; --to) {
                const std::size_t other = one.order[to - 1];
                if (value(other) < value(i) || (value(other) == value(i) && other < i)) break;
                one.order[to] = other;
            }
            one.order[to] = i;
        }
    }
    one.ends.resize(n);
    for (std::size_t j = 0; j < n; ++j) one.ends[j] = j + 1 == n || value(one.order[j]) != value(one.order[j + 1]);
}

// Instances bin after bin: equally wide bins (low, high] by their inner edges, or equally full ones [start, next start).
void bin_into(Prepared &one, const Predicted<double> &d, const double *wide, const double *top) {
    const std::size_t n = d.n, n_edges = d.n_bins - 1;
    const bool mass = d.form == MASS;
    std::vector<double> edges(wide, wide + n_edges);
    if (mass) {
        std::vector<double> rising(n);
        for (std::size_t i = 0; i < n; ++i) rising[i] = top[i * LANES];
        std::sort(rising.begin(), rising.end());
        for (std::size_t e = 0; e < n_edges; ++e) edges[e] = rising[(e + 1) * n / d.n_bins];
    }
    std::vector<std::uint32_t> bin(n);
    one.expected.assign(d.n_bins, 0.0);
    one.stop.assign(d.n_bins, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const double p = top[i * LANES];
        const auto at = mass ? std::upper_bound(edges.begin(), edges.end(), p) : std::lower_bound(edges.begin(), edges.end(), p);
        bin[i] = std::uint32_t(at - edges.begin());
        one.expected[bin[i]] += p;
        ++one.stop[bin[i]];
    }
    std::partial_sum(one.stop.begin(), one.stop.end(), one.stop.begin());
    one.order.resize(n);
    for (std::size_t i = n; i-- > 0;) one.order[--one.stop[bin[i]]] = i;  // now `stop` holds the starts
    for (std::size_t b = 0; b + 1 < d.n_bins; ++b) one.stop[b] = one.stop[b + 1];
    one.stop[d.n_bins - 1] = n;
}

#ifdef UQASSAY_VECTORS
using Four = Piece<double>;
constexpr int FOURS = LANES / PIECE<double>;
#endif

UQASSAY_CLONES void cumulated(const Predicted<double> &d, const Prepared &one, const double *labels, double *out) {
#ifdef UQASSAY_VECTORS
    Four sum[FOURS] = {}, greatest[FOURS] = {}, least[FOURS] = {};
    for (std::size_t j = 0; j < d.n; ++j) {
        const Four *label = reinterpret_cast<const Four *>(labels + one.order[j] * LANES);
        const Four event = one.event[j] - Four{}, wrong = one.top[j] - Four{}, right = wrong - 1.0;
        for (int q = 0; q < FOURS; ++q) sum[q] += label[q] == event ? right : wrong;
        if (!one.ends[j]) continue;  // not between equal confidences
        for (int q = 0; q < FOURS; ++q) greatest[q] = sum[q] > greatest[q] ? sum[q] : greatest[q];
        for (int q = 0; q < FOURS; ++q) least[q] = sum[q] < least[q] ? sum[q] : least[q];
    }
    const double *most = reinterpret_cast<const double *>(greatest), *fewest = reinterpret_cast<const double *>(least);
#else
    double sum[LANES] = {}, most[LANES] = {}, fewest[LANES] = {};
    for (std::size_t j = 0; j < d.n; ++j) {
        const double *label = labels + one.order[j] * LANES, event = one.event[j], wrong = one.top[j], right = wrong - 1.0;
        for (int l = 0; l < LANES; ++l) sum[l] += label[l] == event ? right : wrong;
        if (!one.ends[j]) continue;
        for (int l = 0; l < LANES; ++l) most[l] = sum[l] > most[l] ? sum[l] : most[l];
        for (int l = 0; l < LANES; ++l) fewest[l] = sum[l] < fewest[l] ? sum[l] : fewest[l];
    }
#endif
    for (int l = 0; l < LANES; ++l) {
        const double found = d.form == KUIPER ? most[l] - fewest[l] : std::max(most[l], -fewest[l]);
        out[l] = found / double(d.n);
    }
}

UQASSAY_CLONES void binned(const Predicted<double> &d, const Prepared &one, const double *labels, double *excess, double *out) {
    for (std::size_t b = 0, j = 0; b < d.n_bins; ++b) {
        double count[LANES] = {};
        for (; j < one.stop[b]; ++j) {
            const double *label = labels + one.order[j] * LANES, event = one.event[j];
            for (int l = 0; l < LANES; ++l) count[l] += label[l] == event ? 1.0 : 0.0;
        }
        for (int l = 0; l < LANES; ++l) excess[b * LANES + l] = std::fabs(one.expected[b] - count[l]);
    }
    pairwise_sum(excess, d.n_bins, out);
    for (int l = 0; l < LANES; ++l) out[l] /= double(d.n);
}

Out<double, 2> to_matrix(std::unique_ptr<double[]> data, std::size_t rows, std::size_t columns) {
    double *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<double *>(p); });
    return Out<double, 2>(pointer, {rows, columns}, owner);
}

Out<double, 2> shared_confidence_errors(In<double, 2> weights, In<double, 2> probs, In<Index, 1> order, In<Index, 1> first,
                                        In<Index, 1> classes, In<Index, 2> labels, In<double, 1> edges, Index form) {
    const std::size_t n_mixtures = weights.shape(0), n_draws = labels.shape(0), n = labels.shape(1);
    const auto d = make_predicted<double>(probs, order, first, classes, form, Index(edges.shape(0)) + 1);
    if (weights.shape(1) != d->m || n != d->n) throw std::invalid_argument("weights or labels do not fit the members");
    auto values = raw<double>(n_mixtures * n_draws);
    {
        nb::gil_scoped_release release;
        Buffer<double> w(d->m * LANES), buffer(std::max(COLUMNS, d->most) * LANES), top(n * LANES), event(n * LANES),
            side(n * LANES), excess(d->n_bins * LANES);
        const bool by_order = d->form == KUIPER || d->form == KS, packed = by_order && n <= PACKED;
        Buffer<std::uint64_t> keys(packed ? n * LANES : 0), room(packed ? n * GROUP<std::uint64_t> : 0);
        std::vector<Prepared> all(n_mixtures);
        for (std::size_t start = 0; start < n_mixtures; start += LANES) {
            side_by_side(weights.data(), weights.shape(1), start, n_mixtures, w.data());
            block_of(*d, w.data(), buffer.data(), top.data(), event.data());
            if (packed) sort_block(top.data(), n, keys.data(), room.data());
            for (std::size_t l = 0; l < LANES && start + l < n_mixtures; ++l) {
                Prepared &one = all[start + l];
                if (by_order)
                    sort_into(one, packed ? keys.data() + l : nullptr, top.data() + l, n);
                else
                    bin_into(one, *d, edges.data(), top.data() + l);
                one.top.resize(n);
                one.event.resize(n);
                for (std::size_t j = 0; j < n; ++j) one.top[j] = top[one.order[j] * LANES + l];
                for (std::size_t j = 0; j < n; ++j) one.event[j] = event[one.order[j] * LANES + l];
            }
        }
        double found[LANES];
        for (std::size_t t = 0; t < n_draws; t += LANES) {
            labels_side_by_side(labels.data(), n_draws, n, t, side.data());
            for (std::size_t i = 0; i < n_mixtures; ++i) {
                if (by_order)
                    cumulated(*d, all[i], side.data(), found);
                else
                    binned(*d, all[i], side.data(), excess.data(), found);
                for (std::size_t j = 0; j < LANES && t + j < n_draws; ++j) values[(t + j) * n_mixtures + i] = found[j];
            }
        }
    }
    return to_matrix(std::move(values), n_draws, n_mixtures);
}

// -- equally wide bins of every class -----------------------------------------------------------------------------------------

// Bins (K n, LANES) and expected counts (K B, LANES) of a block of mixtures, as `bins_of_classes` computes them.
UQASSAY_CLONES void classes_of(const double *weights, const double *probs, std::size_t m, std::size_t n, std::size_t n_classes,
                               const double *edges, std::size_t n_bins, double *row, std::uint16_t *bins, double *expected) {
    std::fill(expected, expected + n_classes * n_bins * LANES, 0.0);
    for (std::size_t k = 0; k < n_classes; ++k) {
        double *sums = expected + k * n_bins * LANES;
        mix(weights, probs + k * n * m, m, n, row);
        for (std::size_t i = 0; i < n; ++i)
            for (int l = 0; l < LANES; ++l) {
                double &p = row[i * LANES + l];
                std::size_t bin = 0;
                if (n_bins > 1 && p > edges[0]) {
                    bin = std::min(std::size_t(p * double(n_bins)), n_bins - 1);  // one off at most
                    while (bin > 0 && !(p > edges[bin - 1])) --bin;
                    while (bin + 1 < n_bins && p > edges[bin]) ++bin;
                    sums[bin * LANES + l] += p;
                    p = 0.0;
                }
                bins[(k * n + i) * LANES + l] = std::uint16_t(k * n_bins + bin);
            }
        pairwise_sum(row, n, sums);  // the first bin: the row without the others
    }
}

UQASSAY_CLONES void count_classes(const std::uint16_t *bins, const Index *labels, std::size_t n, std::size_t n_all,
                                  const double *expected, double by, double n_classes, double *counts, double *out) {
    std::fill(counts, counts + n_all * LANES, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t *bin = bins + (std::size_t(labels[i]) * n + i) * LANES;
        for (int l = 0; l < LANES; ++l) counts[std::size_t(bin[l]) * LANES + l] += 1.0;
    }
    for (std::size_t i = 0; i < n_all * LANES; ++i) counts[i] = std::fabs(expected[i] - counts[i]);
    pairwise_sum(counts, n_all, out);
    for (int l = 0; l < LANES; ++l) out[l] = out[l] / n_classes / by;
}

Out<double, 2> shared_class_width_errors(In<double, 2> weights, In<double, 2> probs, In<Index, 2> labels, In<double, 1> edges) {
    const std::size_t n_mixtures = weights.shape(0), n_draws = labels.shape(0), n = labels.shape(1), m = weights.shape(1);
    const std::size_t n_classes = n ? probs.shape(0) / n : 0, n_bins = edges.shape(0) + 1, n_all = n_classes * n_bins;
    if (probs.shape(1) != m || n_classes * n != probs.shape(0) || n_all > 65535)
        throw std::invalid_argument("weights or labels do not fit the members");
    for (std::size_t i = 0; i < n * n_draws; ++i)
        if (labels.data()[i] < 0 || std::size_t(labels.data()[i]) >= n_classes)
            throw std::invalid_argument("a label is not a class");
    auto values = raw<double>(n_mixtures * n_draws);
    {
        nb::gil_scoped_release release;
        Buffer<double> w(m * LANES), row(n * LANES), expected(n_all * LANES), counts(n_all * LANES);
        Buffer<std::uint16_t> bins(n_classes * n * LANES);
        double found[LANES];
        for (std::size_t start = 0; start < n_mixtures; start += LANES) {
            side_by_side(weights.data(), weights.shape(1), start, n_mixtures, w.data());
            classes_of(w.data(), probs.data(), m, n, n_classes, edges.data(), n_bins, row.data(), bins.data(), expected.data());
            for (std::size_t t = 0; t < n_draws; ++t) {
                count_classes(bins.data(), labels.data() + t * n, n, n_all, expected.data(), double(n), double(n_classes),
                              counts.data(), found);
                for (std::size_t l = 0; l < LANES && start + l < n_mixtures; ++l) values[t * n_mixtures + start + l] = found[l];
            }
        }
    }
    return to_matrix(std::move(values), n_draws, n_mixtures);
}

}  // namespace

void bind_shared_errors(nb::module_ &m) {
    using nb::arg;
    m.def("shared_confidence_errors", &shared_confidence_errors, arg("weights").noconvert(), arg("probs").noconvert(),
          arg("order").noconvert(), arg("first").noconvert(), arg("classes").noconvert(), arg("labels").noconvert(),
          arg("edges").noconvert(), arg("form"), "Errors (T, L) of mixtures (L, M) for every draw of labels (T, n).");
    m.def("shared_class_width_errors", &shared_class_width_errors, arg("weights").noconvert(), arg("probs").noconvert(),
          arg("labels").noconvert(), arg("edges").noconvert(),
          "Classwise errors (T, L) of mixtures (L, M) of probabilities (K n, M) for every draw of labels (T, n).");
}
