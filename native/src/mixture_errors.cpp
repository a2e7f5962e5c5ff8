// Calibration errors of many mixtures of the same members: the twins of the evaluators in calibration/mixture_errors.py.
#include "class_width.h"
#include "evaluator.h"

#include <nanobind/stl/unique_ptr.h>

#include <cstring>
#include <limits>
#include <stdexcept>

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

// Sort each lane of values (n, LANES), none of them negative, as many lanes at a time as a vector has. Their bits rise with them.
struct SortLanes {
    template <class V, class T>
    UQASSAY_INLINE static void run(T *values, T *room, std::size_t n) {
        using Key = network::SameOrder<T>;
        constexpr int G = lanes::width<V> * int(sizeof(double) / sizeof(T));
        if (G == LANES) return network::sort<Key, G>(reinterpret_cast<Key *>(values), n);
        for (int first = 0; first < LANES; first += G) {
            for (std::size_t i = 0; i < n; ++i)
                for (int l = 0; l < G; ++l) room[i * G + l] = values[i * LANES + first + l];
            network::sort<Key, G>(reinterpret_cast<Key *>(room), n);
            for (std::size_t i = 0; i < n; ++i)
                for (int l = 0; l < G; ++l) values[i * LANES + first + l] = room[i * G + l];
        }
    }
};

// The same for any number of values.
template <class T>
void sort_each(T *values, std::size_t n, Space<T> &space) {
    if (n <= LONG) {
        space.room.resize(n * LANES);
        return lanes::run<SortLanes>(values, space.room.data(), n);
    }
    space.more.resize(2 * n);
    auto *more = space.more.data();
    for (int l = 0; l < LANES; ++l) {
        for (std::size_t i = 0; i < n; ++i) std::memcpy(more + i, values + i * LANES + l, sizeof(T));
        const auto *sorted = radix::plain_sort(more, more + n, n);
        for (std::size_t i = 0; i < n; ++i) std::memcpy(values + i * LANES + l, sorted + i, sizeof(T));
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
    all_confidences(d, weights, space, 1);
    const T *top = space.other.data(), *hit = space.keep.data();
    space.probs.assign(top, top + d.n * LANES);
    sort_each(space.probs.data(), d.n, space);
    const std::size_t n_edges = d.n_bins - 1;
    space.edges.resize(n_edges * LANES);
    for (std::size_t e = 0; e < n_edges; ++e)
        std::copy_n(space.probs.data() + (e + 1) * d.n / d.n_bins * LANES, LANES, space.edges.data() + e * LANES);
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
    all_confidences(d, weights, space, 1);  // of cumulated differences, with which `run` goes on
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
#ifdef UQASSAY_VECTORS
    using V = Piece<T>;
    constexpr int N = LANES / PIECE<T>;
    V value[N] = {}, count[N] = {};
    for (int q = 0; q < N; ++q) value[q] = reinterpret_cast<const V *>(values)[q];
    for (std::size_t e = 0; e < n_edges; ++e) {
        const V *edge = reinterpret_cast<const V *>(edges + e * LANES);
        for (int q = 0; q < N; ++q) count[q] = value[q] >= edge[q] ? count[q] + T(1) : count[q];
    }
    for (int l = 0; l < LANES; ++l) bin[l] = std::int32_t(reinterpret_cast<const T *>(count)[l]);
#else
    for (int l = 0; l < LANES; ++l) bin[l] = 0;
    for (std::size_t e = 0; e < n_edges; ++e)
        for (int l = 0; l < LANES; ++l) bin[l] += values[l] >= edges[e * LANES + l] ? 1 : 0;
#endif
}

// Number of values (n, LANES) of the instances `begin` … `end` − 1 in each bin, (B, LANES). Those beyond an edge are counted for one
// edge after the other, so that the count stays in registers.
template <class T>
UQASSAY_INLINE void count_in_bins(const T *values, const std::int32_t *begin, const std::int32_t *end, const T *edges,
                                  std::size_t n_edges, double *__restrict counts) {
    for (int l = 0; l < LANES; ++l) counts[l] = double(end - begin);
    for (std::size_t e = 0; e < n_edges; ++e) {
        double *below = counts + e * LANES, *beyond = below + LANES;
#ifdef UQASSAY_VECTORS
        using V = Piece<T>;
        constexpr int N = LANES / PIECE<T>;
        V edge[N] = {}, count[N] = {};
        for (int q = 0; q < N; ++q) edge[q] = reinterpret_cast<const V *>(edges + e * LANES)[q];
        for (const std::int32_t *i = begin; i < end; ++i) {
            const V *value = reinterpret_cast<const V *>(values + std::size_t(*i) * LANES);
            for (int q = 0; q < N; ++q) count[q] = value[q] >= edge[q] ? count[q] + T(1) : count[q];
        }
        for (int l = 0; l < LANES; ++l) beyond[l] = double(reinterpret_cast<const T *>(count)[l]);
#else
        for (int l = 0; l < LANES; ++l) beyond[l] = 0.0;
        for (const std::int32_t *i = begin; i < end; ++i)
            for (int l = 0; l < LANES; ++l)
                beyond[l] += values[std::size_t(*i) * LANES + std::size_t(l)] >= edges[e * LANES + std::size_t(l)] ? 1.0 : 0.0;
#endif
        for (int l = 0; l < LANES; ++l) below[l] -= beyond[l];
    }
}

// Σ (E − O)² / E of each lane after bins of a class are joined until they expect `least` events, and the remainder with the last of
// them: a twin of `chi_squared`. `expected` and `observed` are (K B, LANES).
UQASSAY_INLINE void chi_squared(const double *expected, const double *observed, std::size_t n_classes, std::size_t n_bins, double least,
                                double *out) {
    constexpr double SLACK = 1e-5, LEAST = 5e-324, NEVER = std::numeric_limits<double>::infinity();
    const double enough = least * (1.0 - SLACK);
    double sum[LANES] = {};
    for (std::size_t k = 0; k < n_classes; ++k) {
        double by[LANES] = {}, excess[LANES] = {}, last_by[LANES] = {}, last_excess[LANES] = {};  // the bin that grows; the last full one
        for (std::size_t b = k * n_bins * LANES; b < (k + 1) * n_bins * LANES; b += LANES)
            for (int l = 0; l < LANES; ++l) {
                const double e = expected[b + l], x = e - observed[b + l];
                const double added = by[l] + e, with = excess[l] + x;
                const bool full = added >= enough;
                const double term = last_excess[l] * last_excess[l] / (last_by[l] > LEAST ? last_by[l] : LEAST);
                sum[l] += full ? term : 0.0;
                sum[l] += e == 0.0 && x != 0.0 ? NEVER : 0.0;  // an impossible event
                last_by[l] = full ? added : last_by[l];
                last_excess[l] = full ? with : last_excess[l];
                by[l] = full ? 0.0 : added;
                excess[l] = full ? 0.0 : with;
            }
        for (int l = 0; l < LANES; ++l) {
            const double e = last_by[l] + by[l], x = last_excess[l] + excess[l];
            sum[l] += x * x / (e > LEAST ? e : LEAST);
        }
    }
    for (int l = 0; l < LANES; ++l) out[l] = sum[l];
}

template <class T>
UQASSAY_INLINE void block_of(const ClassMass<T> &d, const T *weights, Space<T> &space, double *out) {
    const std::size_t n = d.n, n_bins = d.n_bins, n_all = d.n_classes * n_bins, n_edges = n_bins - 1;
    space.probs.resize(n * LANES);
    space.other.resize(n * LANES);
    space.edges.resize(n_edges * LANES);
    space.sums.assign(n_all * LANES, 0.0);
    space.counts.resize(n_all * LANES);
    const T *own = space.probs.data(), *rising = space.other.data(), *edges = space.edges.data();
    for (std::size_t k = 0; k < d.n_classes; ++k) {
        double *sums = space.sums.data() + k * n_bins * LANES, *counts = space.counts.data() + k * n_bins * LANES;
        mix(weights, d.probs.data() + k * n * d.m, d.m, n, space.probs.data());
        std::copy_n(own, n * LANES, space.other.data());
        sort_each(space.other.data(), n, space);
        bool tied = n < n_bins;
        for (std::size_t e = 0; e < n_edges; ++e) {
            const std::size_t at = (e + 1) * n / n_bins * LANES;
            std::memcpy(space.edges.data() + e * LANES, rising + at, LANES * sizeof(T));
            for (int l = 0; at && l < LANES; ++l)  // ties of zeros change no sum
                tied |= rising[at - LANES + l] >= rising[at + l] && rising[at + l] > T(0);
        }
        std::int32_t bin[LANES];
        if (tied) {
            for (std::size_t j = 0; j < n; ++j) {
                passed(rising + j * LANES, edges, n_edges, bin);
                for (int l = 0; l < LANES; ++l) sums[bin[l] * LANES + l] += double(rising[j * LANES + l]);
            }
        } else {
            for (std::size_t b = 0; b < n_bins; ++b) {
                double sum[LANES] = {};
                for (std::size_t j = b * n / n_bins; j < (b + 1) * n / n_bins; ++j)
                    for (int l = 0; l < LANES; ++l) sum[l] += double(rising[j * LANES + l]);
                std::copy_n(sum, LANES, sums + b * LANES);
            }
        }
        const std::int32_t *labels = space.labels.data(), *begin = labels + n;
        count_in_bins(own, labels + begin[k], labels + begin[k + 1], edges, n_edges, counts);
    }
    if (d.least >= 0.0) return chi_squared(space.sums.data(), space.counts.data(), d.n_classes, n_bins, d.least, out);
    for (std::size_t i = 0; i < n_all * LANES; ++i) space.sums[i] -= space.counts[i];
    absolute_mean(space.sums.data(), n_all, double(n) * double(d.n_classes), out);
}

// -- all mixtures of a call ---------------------------------------------------------------------------------------------------

// One block of LANES mixtures with the same labels.
UQASSAY_CLONES void predicted_block(const Predicted<float> &d, const float *w, Space<float> &space, double *out) {
    block_of(d, w, space, out);
}
UQASSAY_CLONES void predicted_block(const Predicted<double> &d, const double *w, Space<double> &space, double *out) {
    block_of(d, w, space, out);
}
template <class T>
void run(const Predicted<T> &d, const T *w, const double *, Space<T> &space, double *out) {
    predicted_block(d, w, space, out);
    if (d.form == KUIPER || d.form == KS) cumulated_values(space.other.data(), space.keep.data(), d.n, d.form, space, out);
}
UQASSAY_CLONES void run(const ClassMass<float> &d, const float *w, const double *, Space<float> &space, double *out) {
    block_of(d, w, space, out);
}
UQASSAY_CLONES void run(const ClassMass<double> &d, const double *w, const double *, Space<double> &space, double *out) {
    block_of(d, w, space, out);
}

Out<double, 1> values_of(const Evaluator &errors, In<double, 2> weights, In<Index, 2> labels, In<Index, 1> targets) {
    const std::size_t n_mixtures = weights.shape(0), m = errors.n_members(), n = errors.n_instances();
    if (weights.shape(1) != m || labels.shape(1) != n || targets.shape(0) != n_mixtures)
        throw std::invalid_argument("shapes of weights, labels and targets do not fit the members");
    const Index *target = targets.data();
    for (std::size_t i = 0; i < n_mixtures; ++i)
        if (target[i] < 0 || std::size_t(target[i]) >= labels.shape(0))
            throw std::invalid_argument("a target is not a row of the labels");
    auto values = raw<double>(n_mixtures);
    {
        nb::gil_scoped_release release;
        const auto valuer = errors.valuer();
        for (std::size_t i = 0, stop; i < n_mixtures; i = stop) {
            for (stop = i + 1; stop < n_mixtures && target[stop] == target[i];) ++stop;
            valuer->take(labels.data() + std::size_t(target[i]) * n);
            valuer->values(weights.data() + i * m, stop - i, values.get() + i);
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
std::unique_ptr<Evaluator> confidence_errors(In<T, 2> probs, In<Index, 1> order, In<Index, 1> first, In<Index, 1> classes, Index form,
                                             Index n_bins) {
    return evaluator<T, Predicted<T>>(make_predicted<T>(probs, order, first, classes, form, n_bins), run);
}

template <class T>
std::unique_ptr<Evaluator> class_width_errors(In<T, 2> moving, In<Index, 1> first_bin, In<Index, 1> column, In<Index, 1> settled,
                                              In<double, 2> staying, Index n_classes, Index n_bins) {
    return evaluator<T, Classwise<T>>(classwise<T>(moving, first_bin, column, settled, staying, n_classes, n_bins), run);
}

template <class T>
std::unique_ptr<Evaluator> class_mass_errors(In<T, 2> probs, Index n_classes, Index n_bins, double least) {
    return evaluator<T, ClassMass<T>>(class_mass<T>(probs, n_classes, n_bins, least), run);
}

template <class T>
void bind_for(nb::module_ &m) {
    using nb::arg;
    m.def("class_mass_errors", &class_mass_errors<T>, arg("probs").noconvert(), arg("n_classes"), arg("n_bins"), arg("least"),
          "Evaluator of the classwise error or, with `least` from 0, of the Hosmer-Lemeshow statistic, in equally full bins.");
    m.def("confidence_errors", &confidence_errors<T>, arg("probs").noconvert(), arg("order").noconvert(), arg("first").noconvert(),
          arg("classes").noconvert(), arg("form"), arg("n_bins"),
          "Evaluator of calibration errors of the confidence, for members' probabilities (C, M) of the possible classes.");
    m.def("class_width_errors", &class_width_errors<T>, arg("moving").noconvert(), arg("first_bin").noconvert(),
          arg("column").noconvert(), arg("settled").noconvert(), arg("staying").noconvert(), arg("n_classes"), arg("n_bins"),
          "Evaluator of the classwise error in equally wide bins.");
}

}  // namespace

void bind_mixture_errors(nb::module_ &m) {
    using nb::arg;
    nb::class_<Evaluator>(m, "_MixtureErrors")
        .def("values", &values_of, arg("weights").noconvert(), arg("labels").noconvert(), arg("targets").noconvert());
    bind_for<float>(m);
    bind_for<double>(m);
    bind_pair_errors(m);
    bind_shared_errors(m);
    bind_search(m);
}
