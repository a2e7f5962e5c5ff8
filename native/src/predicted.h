// The predicted class of mixtures: only classes that can have the greatest probability in some mixture are computed.
#pragma once

#include "mixtures.h"
#include "radix.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

void bind_shared_errors(nb::module_ &m);
void bind_pair_errors(nb::module_ &m);
void bind_search(nb::module_ &m);

namespace mixtures {

using Index = std::int64_t;
enum Form { WIDTH = 0, MASS = 1, KUIPER = 2, KS = 3 };

// Memory of one thread for one call.
template <class T>
struct Space {
    Buffer<T> probs, other, keep, edges, room;
    Buffer<typename radix::KeyOf<T>::type> more;
    Buffer<std::int32_t> labels, bins;
    Buffer<std::uint8_t> flags;
    Buffer<double> amounts, sums, counts, settled;
};

// Instances in the order of `order`; instance j has the possible classes classes[first[j]] … classes[first[j + 1] − 1].
template <class T>
struct Predicted {
    std::size_t n, m, n_bins;
    Form form;
    std::vector<T> probs;  // (C, M)
    std::vector<Index> order, first;
    std::vector<std::int32_t> classes;
    std::size_t most = 0;  // classes of one instance

    std::size_t n_instances() const { return n; }
    std::size_t n_members() const { return m; }

    void new_labels(const Index *labels, Space<T> &space) const {
        space.labels.resize(n);
        for (std::size_t j = 0; j < n; ++j) space.labels[j] = std::int32_t(labels[order[j]]);
    }
};

// Greatest probability of instances `start` … `stop` − 1 and 1 where it is that of the label, (stop − start, LANES).
template <class T>
UQASSAY_INLINE void confidences(const Predicted<T> &d, const T *weights, std::size_t start, std::size_t stop,
                                const std::int32_t *labels, T *buffer, T *confidence, T *hit) {
    const Index from = d.first[start];
    mix(weights, d.probs.data() + from * d.m, d.m, std::size_t(d.first[stop] - from), buffer);
    for (std::size_t j = start; j < stop; ++j) {
        const std::int32_t *cls = d.classes.data() + d.first[j], label = labels[j];
        take_greatest(buffer + (d.first[j] - from) * LANES, std::size_t(d.first[j + 1] - d.first[j]),
                      [=](std::size_t c) { return T(label == cls[c]); }, confidence + (j - start) * LANES,
                      hit + (j - start) * LANES);
    }
}

template <class T>
UQASSAY_INLINE std::size_t next_part(const Predicted<T> &d, std::size_t start) {
    std::size_t stop = start + 1;
    while (stop < d.n && d.first[stop + 1] - d.first[start] <= Index(COLUMNS)) ++stop;
    return stop;
}

// Weights (L, M) of mixtures `start` to `stop` − 1 side by side (M, LANES); lanes after the last repeat it.
inline void side_by_side(const double *weights, std::size_t m, std::size_t start, std::size_t stop, double *out) {
    for (std::size_t l = 0; l < LANES; ++l) {
        const double *from = weights + std::min(start + l, stop - 1) * m;
        for (std::size_t k = 0; k < m; ++k) out[k * LANES + l] = from[k];
    }
}

// Cumulated errors of a block of mixtures with these confidences (n, LANES) and whether they are right (1 or 0).
void cumulated_values(const float *top, const float *hit, std::size_t n, Form form, Space<float> &space, double *out);
void cumulated_values(const double *top, const double *hit, std::size_t n, Form form, Space<double> &space, double *out);

template <class To, class From>
std::vector<To> copied(const From &array) {
    return std::vector<To>(array.data(), array.data() + array.size());
}

template <class T>
std::unique_ptr<Predicted<T>> make_predicted(In<T, 2> probs, In<Index, 1> order, In<Index, 1> first, In<Index, 1> classes,
                                        Index form, Index n_bins) {
    auto d = std::make_unique<Predicted<T>>();
    d->n = order.shape(0);
    d->m = probs.shape(1);
    d->n_bins = std::size_t(n_bins);
    d->form = Form(form);
    d->probs = copied<T>(probs);
    d->order = copied<Index>(order);
    d->first = copied<Index>(first);
    d->classes = copied<std::int32_t>(classes);
    if (d->first.size() != d->n + 1 || std::size_t(d->first.back()) != probs.shape(0) || d->classes.size() != probs.shape(0))
        throw std::invalid_argument("every instance needs its possible classes");
    for (std::size_t j = 0; j < d->n; ++j) {
        if (d->first[j + 1] <= d->first[j] || d->order[j] < 0 || std::size_t(d->order[j]) >= d->n)
            throw std::invalid_argument("every instance needs a possible class");
        d->most = std::max(d->most, std::size_t(d->first[j + 1] - d->first[j]));
    }
    return d;
}


}  // namespace mixtures
