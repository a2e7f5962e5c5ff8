// Calibration errors of many mixtures of the same members: the twins of the evaluators in calibration/mixture_errors.py.
#include "class_width.h"

#include <nanobind/stl/unique_ptr.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace {

using namespace mixtures;

constexpr std::size_t LONG = 4096;     // instances; more are sorted by radix, one mixture at a time

// Numbers of the equally wide bins (low, high] of `count` probabilities, from 0.
template <class T>
UQASSAY_INLINE void bins_of(const T *__restrict probs, std::size_t count, std::size_t n_bins, std::int32_t *__restrict bin) {
    const T scale = bins_per_unit<T>(n_bins), most = T(n_bins);
    for (std::size_t i = 0; i < count; ++i) {
        T place = std::ceil(probs[i] * scale);
        place = place < most ? place : most;
        place = place > T(1) ? place : T(1);
        bin[i] = std::int32_t(place) - 1;
    }
}

// Confidence minus correctness, rounded as the confidence.
template <class T>
UQASSAY_INLINE void excess_of(const T *__restrict confidence, const T *__restrict hit, std::size_t count,
                              double *__restrict out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = double(T(confidence[i] - hit[i]));
}

// Add amounts (count, LANES) to sums (B, LANES).
UQASSAY_INLINE void add_to_bins(const std::int32_t *bin, const double *amounts, std::size_t count, double *sums) {
    for (std::size_t j = 0; j < count * LANES; j += LANES)
        for (int l = 0; l < LANES; ++l) sums[bin[j + l] * LANES + l] += amounts[j + l];
}

template <class Key>
UQASSAY_INLINE void sort_each(Key *keys, std::size_t n, Buffer<Key> &more) {
    if (n <= LONG) {
        more.resize(n * GROUP<Key>);
        return sort_lanes(keys, more.data(), n);
    }
    more.resize(2 * n);
    for (int l = 0; l < LANES; ++l) {
        for (std::size_t i = 0; i < n; ++i) more[i] = keys[i * LANES + l];
        const Key *sorted = radix::plain_sort(more.data(), more.data() + n, n);
        for (std::size_t i = 0; i < n; ++i) keys[i * LANES + l] = sorted[i];
    }
}

// -- the predicted class -----------------------------------------------------------------------------------------------------

template <class T>
UQASSAY_INLINE void width_block(const Predicted<T> &d, const T *weights, Space<T> &space, double *out) {
    const std::size_t room = std::max(COLUMNS, d.most);
    space.probs.resize(room * LANES);
    space.other.resize(room * LANES);
    space.keep.resize(room * LANES);
    space.sums.assign(d.n_bins * LANES, 0.0);
    space.bins.resize(room * LANES);
    space.amounts.resize(room * LANES);
    T *top = space.other.data(), *hit = space.keep.data();
    double *sums = space.sums.data();
    for (std::size_t start = 0; start < d.n;) {
        const std::size_t stop = next_part(d, start), count = stop - start;
        confidences(d, weights, start, stop, space.labels.data(), space.probs.data(), top, hit);
        bins_of(top, count * LANES, d.n_bins, space.bins.data());
        excess_of(top, hit, count * LANES, space.amounts.data());
        add_to_bins(space.bins.data(), space.amounts.data(), count, sums);
        start = stop;
    }
    absolute_mean(sums, d.n_bins, double(d.n), out);
}

template <class T>
UQASSAY_INLINE void all_confidences(const Predicted<T> &d, const T *weights, Space<T> &space, std::size_t n_arrays) {
    space.probs.resize(std::max(COLUMNS, d.most) * LANES);
    space.other.resize(d.n * LANES * n_arrays);
    space.keep.resize(d.n * LANES);
    for (std::size_t start = 0; start < d.n;) {
        const std::size_t stop = next_part(d, start);
        confidences(d, weights, start, stop, space.labels.data(), space.probs.data(), space.other.data() + start * LANES,
                    space.keep.data() + start * LANES);
        start = stop;
    }
}

template <class T>
UQASSAY_INLINE void mass_block(const Predicted<T> &d, const T *weights, Space<T> &space, double *out) {
    using Key = typename radix::KeyOf<T>::type;
    all_confidences(d, weights, space, 1);
    const T *top = space.other.data(), *hit = space.keep.data();
    space.keys.resize(d.n * LANES);
    std::memcpy(space.keys.data(), top, d.n * LANES * sizeof(T));  // bits of a positive number rise with it
    sort_each(space.keys.data(), d.n, space.more);
    const std::size_t n_edges = d.n_bins - 1;
    space.edges.resize(n_edges * LANES);
    for (std::size_t e = 0; e < n_edges; ++e)
        std::memcpy(space.edges.data() + e * LANES, space.keys.data() + (e + 1) * d.n / d.n_bins * LANES,
                    LANES * sizeof(Key));
    space.sums.assign(d.n_bins * LANES, 0.0);
    space.bins.assign(d.n * LANES, 0);
    space.amounts.resize(d.n * LANES);
    std::int32_t *__restrict bins = space.bins.data();
    for (std::size_t e = 0; e < n_edges; ++e) {
        const T *__restrict edge = space.edges.data() + e * LANES;
        for (std::size_t j = 0; j < d.n * LANES; j += LANES)
            for (int l = 0; l < LANES; ++l) bins[j + l] += top[j + l] >= edge[l] ? 1 : 0;
    }
    excess_of(top, hit, d.n * LANES, space.amounts.data());
    add_to_bins(bins, space.amounts.data(), d.n, space.sums.data());
    absolute_mean(space.sums.data(), d.n_bins, double(d.n), out);
}

template <class T>
UQASSAY_INLINE void block_of(const Predicted<T> &d, const T *weights, Space<T> &space, double *out) {
    if (d.form == WIDTH) return width_block(d, weights, space, out);
    if (d.form == MASS) return mass_block(d, weights, space, out);
    all_confidences(d, weights, space, 1);  // `run` goes on with them
}

// -- equally full bins of every class -----------------------------------------------------------------------------------------

template <class T>
struct ClassMass {
    std::size_t n, m, n_classes, n_bins;
    double least;          // expected events of a bin of the Hosmer-Lemeshow statistic; negative: the classwise error
    std::vector<T> probs;  // (K n, M)

    std::size_t n_instances() const { return n; }
    std::size_t n_members() const { return m; }

    // Instances class after class: `labels` holds their numbers, and the first places of the classes behind them.
    void new_labels(const Index *labels, Space<T> &space) const {
        space.labels.assign(n + n_classes + 1, 0);
        std::int32_t *begin = space.labels.data() + n;
        for (std::size_t i = 0; i < n; ++i) {
            if (labels[i] < 0 || std::size_t(labels[i]) >= n_classes) throw std::invalid_argument("a label is not a class");
            ++begin[labels[i] + 1];
        }
        for (std::size_t k = 0; k < n_classes; ++k) begin[k + 1] += begin[k];
        std::vector<std::int32_t> next(begin, begin + n_classes);
        for (std::size_t i = 0; i < n; ++i) space.labels[std::size_t(next[std::size_t(labels[i])]++)] = std::int32_t(i);
    }
};

// Number of edges (n_edges, LANES) that are not above the values (LANES).
template <class T>
UQASSAY_INLINE void passed(const T *__restrict values, const T *__restrict edges, std::size_t n_edges,
                           std::int32_t *__restrict bin) {
    for (int l = 0; l < LANES; ++l) bin[l] = 0;
    for (std::size_t e = 0; e < n_edges; ++e)
        for (int l = 0; l < LANES; ++l) bin[l] += values[l] >= edges[e * LANES + l] ? 1 : 0;
}

// Σ (E − O)² / E of each lane after bins of a class are joined until they expect `least` events: a twin of `chi_squared`.
inline void chi_squared(double *expected, double *observed, std::size_t n_classes, std::size_t n_bins, double least,
                        double *out) {
    constexpr double SLACK = 1e-5, LEAST = 5e-324;
    bool impossible[LANES] = {};
    for (std::size_t k = 0; k < n_classes; ++k)
        for (int l = 0; l < LANES; ++l) {
            double *e = expected + k * n_bins * LANES + l, *x = observed + k * n_bins * LANES + l;
            for (std::size_t b = 0; b < n_bins; ++b) x[b * LANES] = e[b * LANES] - x[b * LANES];
            std::size_t place = 0, to = 0;
            double waiting = 0.0;
            for (std::size_t b = 0; least > 0 && b < n_bins; ++b) {
                const double by = e[b * LANES], excess = x[b * LANES];
                impossible[l] = impossible[l] || (by == 0.0 && excess != 0.0);
                if (b > 0) e[b * LANES] = x[b * LANES] = 0.0;
                to = place;  // the remainder at the end joins the last full bin
                e[to * LANES] += b > 0 ? by : 0.0;
                x[to * LANES] += b > 0 ? excess : 0.0;
                waiting += by;
                if (waiting >= least * (1.0 - SLACK)) {
                    waiting = 0.0;
                    ++place;
                }
            }
            if (least > 0 && place > 0 && to == place) {
                e[(place - 1) * LANES] += e[place * LANES];
                x[(place - 1) * LANES] += x[place * LANES];
                e[place * LANES] = x[place * LANES] = 0.0;
            }
            for (std::size_t b = 0; b < n_bins; ++b)
                x[b * LANES] = x[b * LANES] * x[b * LANES] / std::max(e[b * LANES], LEAST);
        }
    pairwise_sum(observed, n_classes * n_bins, out);
    for (int l = 0; l < LANES; ++l) out[l] += impossible[l] ? std::numeric_limits<double>::infinity() : 0.0;
}

template <class T>
UQASSAY_INLINE void block_of(const ClassMass<T> &d, const T *weights, Space<T> &space, double *out) {
    using Key = typename radix::KeyOf<T>::type;
    const std::size_t n = d.n, n_bins = d.n_bins, n_all = d.n_classes * n_bins, n_edges = n_bins - 1;
    space.probs.resize(n * LANES);
    space.other.resize(n * LANES);
    space.keys.resize(n * LANES);
    space.edges.resize(n_edges * LANES);
    space.sums.assign(n_all * LANES, 0.0);
    space.counts.assign(n_all * LANES, 0.0);
    const T *own = space.probs.data(), *rising = space.other.data(), *edges = space.edges.data();
    for (std::size_t k = 0; k < d.n_classes; ++k) {
        double *sums = space.sums.data() + k * n_bins * LANES, *counts = space.counts.data() + k * n_bins * LANES;
        mix(weights, d.probs.data() + k * n * d.m, d.m, n, space.probs.data());
        std::memcpy(space.keys.data(), own, n * LANES * sizeof(Key));
        sort_each(space.keys.data(), n, space.more);
        std::memcpy(space.other.data(), space.keys.data(), n * LANES * sizeof(Key));
        bool tied = n < n_bins;
        for (std::size_t e = 0; e < n_edges; ++e) {
            const std::size_t at = (e + 1) * n / n_bins * LANES;
            std::memcpy(space.edges.data() + e * LANES, rising + at, LANES * sizeof(T));
            for (int l = 0; at && l < LANES; ++l) tied |= rising[at - LANES + l] >= rising[at + l];
        }
        std::int32_t bin[LANES];
        if (tied) {
            for (std::size_t j = 0; j < n; ++j) {
                passed(rising + j * LANES, edges, n_edges, bin);
                for (int l = 0; l < LANES; ++l) sums[bin[l] * LANES + l] += double(rising[j * LANES + l]);
            }
        } else {
            for (std::size_t b = 0; b < n_bins; ++b)
                for (std::size_t j = b * n / n_bins; j < (b + 1) * n / n_bins; ++j)
                    for (int l = 0; l < LANES; ++l) sums[b * LANES + l] += double(rising[j * LANES + l]);
        }
        const std::int32_t *begin = space.labels.data() + n;
        for (std::int32_t j = begin[k]; j < begin[k + 1]; ++j) {
            passed(own + std::size_t(space.labels[std::size_t(j)]) * LANES, edges, n_edges, bin);
            for (int l = 0; l < LANES; ++l) counts[bin[l] * LANES + l] += 1.0;
        }
    }
    if (d.least >= 0.0) return chi_squared(space.sums.data(), space.counts.data(), d.n_classes, n_bins, d.least, out);
    for (std::size_t i = 0; i < n_all * LANES; ++i) space.sums[i] -= space.counts[i];
    absolute_mean(space.sums.data(), n_all, double(n) * double(d.n_classes), out);
}

// -- all mixtures of a call ---------------------------------------------------------------------------------------------------

// One block of LANES mixtures with the same labels.
UQASSAY_CLONES void run(const Predicted<float> &d, const float *w, const double *, Space<float> &space, double *out) {
    block_of(d, w, space, out);
}
UQASSAY_CLONES void run(const Predicted<double> &d, const double *w, const double *, Space<double> &space, double *out) {
    block_of(d, w, space, out);
}
UQASSAY_CLONES void run(const ClassMass<float> &d, const float *w, const double *, Space<float> &space, double *out) {
    block_of(d, w, space, out);
}
UQASSAY_CLONES void run(const ClassMass<double> &d, const double *w, const double *, Space<double> &space, double *out) {
    block_of(d, w, space, out);
}

template <class T, class Data>
Out<double, 1> values_of(const Data &d, In<double, 2> weights, In<Index, 2> labels, In<Index, 1> targets) {
    const std::size_t n_mixtures = weights.shape(0), m = d.n_members(), n = d.n_instances();
    if (weights.shape(1) != m || labels.shape(1) != n || targets.shape(0) != n_mixtures)
        throw std::invalid_argument("shapes of weights, labels and targets do not fit the members");
    for (std::size_t i = 0; i < n_mixtures; ++i)
        if (targets.data()[i] < 0 || std::size_t(targets.data()[i]) >= labels.shape(0))
            throw std::invalid_argument("a target is not a row of the labels");
    auto values = raw<double>(n_mixtures);
    {
        nb::gil_scoped_release release;
        Space<T> space;
        Buffer<T> w(m * LANES);
        Buffer<double> exact(m * LANES);
        double found[LANES];
        const Index *target = targets.data();
        for (std::size_t i = 0; i < n_mixtures;) {
            if (i == 0 || target[i] != target[i - 1]) d.new_labels(labels.data() + target[i] * n, space);
            std::size_t stop = i + 1;
            while (stop < n_mixtures && stop < i + LANES && target[stop] == target[i]) ++stop;
            side_by_side(weights, i, stop, exact.data());
            std::copy(exact.begin(), exact.end(), w.begin());
            run(d, w.data(), exact.data(), space, found);  // the last block repeats its last mixture
            if constexpr (std::is_same_v<Data, Predicted<T>>)
                if (d.form == KUIPER || d.form == KS)
                    cumulated_values(space.other.data(), space.keep.data(), n, d.form, space, found);
            std::copy(found, found + (stop - i), values.get() + i);
            i = stop;
        }
    }
    return to_array(std::move(values), n_mixtures);
}

template <class T>
std::unique_ptr<ClassMass<T>> class_mass(In<T, 2> probs, Index n_classes, Index n_bins, double least) {
    auto d = std::make_unique<ClassMass<T>>();
    d->n_classes = std::size_t(n_classes);
    d->n_bins = std::size_t(n_bins);
    d->n = probs.shape(0) / d->n_classes;
    d->m = probs.shape(1);
    d->least = least;
    d->probs = copied<T>(probs);
    return d;
}

template <class T>
void bind_for(nb::module_ &m, const char *of_confidence, const char *of_classes, const char *of_masses) {
    using nb::arg;
    nb::class_<Predicted<T>>(m, of_confidence).def("values", &values_of<T, Predicted<T>>, arg("weights").noconvert(), arg("labels").noconvert(), arg("targets").noconvert());
    nb::class_<Classwise<T>>(m, of_classes).def("values", &values_of<T, Classwise<T>>, arg("weights").noconvert(), arg("labels").noconvert(), arg("targets").noconvert());
    nb::class_<ClassMass<T>>(m, of_masses).def("values", &values_of<T, ClassMass<T>>, arg("weights").noconvert(), arg("labels").noconvert(), arg("targets").noconvert());
    m.def("class_mass_errors", &class_mass<T>, arg("probs").noconvert(), arg("n_classes"), arg("n_bins"), arg("least"),
          "Evaluator of the classwise error or, with `least` from 0, of the Hosmer-Lemeshow statistic, in equally full bins.");
    m.def("confidence_errors", &make_predicted<T>, arg("probs").noconvert(), arg("order").noconvert(), arg("first").noconvert(), arg("classes").noconvert(), arg("form"), arg("n_bins"),
          "Evaluator of calibration errors of the confidence, for members' probabilities (C, M) of the possible classes.");
    m.def("class_width_errors", &classwise<T>, arg("moving").noconvert(), arg("first_bin").noconvert(), arg("column").noconvert(), arg("settled").noconvert(), arg("staying").noconvert(),
          arg("n_classes"), arg("n_bins"), "Evaluator of the classwise error in equally wide bins.");
}

}  // namespace

void bind_mixture_errors(nb::module_ &m) {
    bind_for<float>(m, "_ConfidenceErrors32", "_ClassWidthErrors32", "_ClassMassErrors32");
    bind_for<double>(m, "_ConfidenceErrors64", "_ClassWidthErrors64", "_ClassMassErrors64");
    bind_shared_errors(m);
    bind_moves(m);
}
