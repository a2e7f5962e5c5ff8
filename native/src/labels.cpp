// Draws of labels and what calibration tests count in them. Labels are (D, n): D draws for n instances.
#include "lanes.h"

#include <cmath>
#include <stdexcept>
#include <vector>

namespace {

using lanes::all;
using lanes::greatest;
using lanes::least;
using Index = std::int64_t;

constexpr std::size_t STRETCH = 24 * 1024 / sizeof(double);  // numbers that stay in the nearest cache

#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
template <class V>
UQASSAY_INLINE V one_where_reached(const V &step, const V &aim) {
    return step <= aim ? all<V>(1.0) : all<V>(0.0);
}
#else
template <class V>
UQASSAY_INLINE V one_where_reached(const V &step, const V &aim) {
    V out;
    for (int i = 0; i < lanes::width<V>; ++i) out[i] = step[i] <= aim[i] ? 1.0 : 0.0;
    return out;
}
#endif

// -- labels from random numbers -------------------------------------------------------------------------------------------------

// How many of the steps (S, n) of its distribution function each random number (D, n) reaches, instances side by side: the twin
// of `_counted_steps` in src/uqassay/calibration/monte_carlo.py.
struct CountedSteps {
    template <class V>
    UQASSAY_INLINE static void run(const double *steps, std::size_t n_steps, std::size_t n, const double *aims,
                                   std::size_t n_draws, Index *labels) {
        constexpr std::size_t L = lanes::width<V>, AHEAD = 4;
        const std::size_t groups = std::max<std::size_t>(1, STRETCH / (L * AHEAD * std::max<std::size_t>(1, n_steps)));
        const std::size_t block = groups * L * AHEAD;
        lanes::Room<V> near(block / L * std::max<std::size_t>(1, n_steps)), aim(AHEAD);
        lanes::Interruptible loop;
        for (std::size_t begin = 0; begin < n; begin += block) {
            const std::size_t count = std::min(block, n - begin);
            for (std::size_t k = 0; k < n_steps; ++k) {
                double *to = reinterpret_cast<double *>(near.get() + k * (block / L));
                for (std::size_t i = 0; i < count; ++i) to[i] = steps[k * n + begin + i];
                for (std::size_t i = count; i < block; ++i) to[i] = 2.0;
            }
            for (std::size_t d = 0; d < n_draws; ++d) {
                const double *from = aims + d * n + begin;
                Index *to = labels + d * n + begin;
                for (std::size_t start = 0; start < count; start += L * AHEAD) {
                    const std::size_t some = std::min(L * AHEAD, count - start);
                    double *a = reinterpret_cast<double *>(aim.get());
                    if (some == L * AHEAD)
                        for (std::size_t i = 0; i < L * AHEAD; ++i) a[i] = from[start + i];
                    else
                        for (std::size_t i = 0; i < some; ++i) a[i] = from[start + i];
                    const V a0 = aim.get()[0], a1 = aim.get()[1], a2 = aim.get()[2], a3 = aim.get()[3];
                    V c0 = all<V>(0.0), c1 = c0, c2 = c0, c3 = c0;
                    const V *step = near.get() + start / L;
                    for (std::size_t k = 0; k < n_steps; ++k, step += block / L) {
                        c0 = c0 + one_where_reached(step[0], a0);
                        c1 = c1 + one_where_reached(step[1], a1);
                        c2 = c2 + one_where_reached(step[2], a2);
                        c3 = c3 + one_where_reached(step[3], a3);
                    }
                    V counts[AHEAD] = {c0, c1, c2, c3};
                    const double *c = reinterpret_cast<const double *>(counts);
                    if (some == L * AHEAD)
                        for (std::size_t i = 0; i < L * AHEAD; ++i) to[start + i] = Index(c[i]);
                    else
                        for (std::size_t i = 0; i < some; ++i) to[start + i] = Index(c[i]);
                }
            }
            loop.worked(count * n_draws * (n_steps + 1));
        }
    }
};

// The same for many steps (n, S), by a binary search without branches. Steps and numbers of instance i are shifted by first + i
// before they are compared, as in the formula, which searches in one line of all instances.
UQASSAY_CLONES void find_steps(const double *steps, std::size_t n_steps, std::size_t n, Index first, const double *aims,
                               std::size_t n_draws, Index *labels) {
    constexpr std::size_t AT_ONCE = 8;
    std::size_t width = 1;  // a power of two above the number of steps
    while (width <= n_steps) width *= 2;
    const std::size_t together = std::max<std::size_t>(8, STRETCH / width);
    std::vector<double> near(together * width), shifts(together), ends(together);
    lanes::Interruptible loop;
    for (std::size_t begin = 0; begin < n; begin += together) {
        const std::size_t count = std::min(together, n - begin);
        for (std::size_t i = 0; i < count; ++i) {
            const double shift = shifts[i] = double(first + Index(begin + i));
            ends[i] = std::nextafter(shift + 1, 0.0);
            for (std::size_t k = 0; k < n_steps; ++k) near[i * width + k] = steps[(begin + i) * n_steps + k] + shift;
            for (std::size_t k = n_steps; k < width; ++k) near[i * width + k] = shift + 2;
        }
        for (std::size_t d = 0; d < n_draws; ++d) {
            const double *aim = aims + d * n + begin;
            Index *label = labels + d * n + begin;
            std::size_t i = 0;
            for (; i + AT_ONCE <= count; i += AT_ONCE) {
                double x[AT_ONCE];
                Index at[AT_ONCE];
                for (std::size_t l = 0; l < AT_ONCE; ++l) x[l] = std::min(shifts[i + l] + aim[i + l], ends[i + l]);
                for (std::size_t l = 0; l < AT_ONCE; ++l) at[l] = Index((i + l) * width) - 1;
                for (Index half = Index(width / 2); half; half /= 2)
                    for (std::size_t l = 0; l < AT_ONCE; ++l) at[l] += near[std::size_t(at[l] + half)] <= x[l] ? half : 0;
                for (std::size_t l = 0; l < AT_ONCE; ++l) label[i + l] = at[l] + 1 - Index((i + l) * width);
            }
            for (; i < count; ++i) {
                const double *row = near.data() + i * width, x = std::min(shifts[i] + aim[i], ends[i]);
                label[i] = std::upper_bound(row, row + n_steps, x) - row;
            }
        }
        loop.worked(count * n_draws * 16);
    }
}

// Labels (n,) of one distribution (K, n) for each instance, by inversion of its distribution function at u times its sum.
UQASSAY_CLONES void invert(const double *probs, std::size_t n_classes, std::size_t n, const double *uniform, Index *labels) {
    constexpr std::size_t BLOCK = 256;
    double sum[BLOCK], aim[BLOCK], count[BLOCK];
    for (std::size_t begin = 0; begin < n; begin += BLOCK) {
        const std::size_t size = std::min(BLOCK, n - begin);
        const auto add = [&](std::size_t k) {
            const double *row = probs + k * n + begin;
            for (std::size_t i = 0; i < size; ++i) sum[i] = k ? sum[i] + row[i] : row[i];
        };
        for (std::size_t k = 0; k < n_classes; ++k) add(k);
        for (std::size_t i = 0; i < size; ++i) aim[i] = uniform[begin + i] * sum[i];
        for (std::size_t i = 0; i < size; ++i) count[i] = 0.0;
        for (std::size_t k = 0; k + 1 < n_classes; ++k) {
            add(k);
            for (std::size_t i = 0; i < size; ++i) count[i] += sum[i] <= aim[i] ? 1.0 : 0.0;
        }
        for (std::size_t i = 0; i < size; ++i) labels[begin + i] = Index(count[i]);
    }
}

Out<Index, 2> inverted_labels(In<double, 3> probs, In<double, 2> uniform) {
    const std::size_t n_draws = probs.shape(0), n_classes = probs.shape(1), n = probs.shape(2);
    if (uniform.shape(0) != n_draws || uniform.shape(1) != n || !n_classes)
        throw std::invalid_argument("one random number for each instance of each draw");
    auto labels = raw<Index>(n_draws * n);
    {
        nb::gil_scoped_release release;
        lanes::Interruptible loop;
        for (std::size_t d = 0; d < n_draws; ++d) {
            invert(probs.data() + d * n_classes * n, n_classes, n, uniform.data() + d * n, labels.get() + d * n);
            loop.worked(2 * n_classes * n);
        }
    }
    return lanes::to_matrix(std::move(labels), n_draws, n);
}

Out<Index, 2> counted_steps(In<double, 2> steps, In<double, 2> aims) {
    const std::size_t n_steps = steps.shape(0), n = steps.shape(1), n_draws = aims.shape(0);
    if (aims.shape(1) != n) throw std::invalid_argument("one random number for each instance");
    auto labels = raw<Index>(n_draws * n);
    {
        nb::gil_scoped_release release;
        lanes::run<CountedSteps>(steps.data(), n_steps, n, aims.data(), n_draws, labels.get());
    }
    return lanes::to_matrix(std::move(labels), n_draws, n);
}

Out<Index, 2> found_steps(In<double, 2> steps, In<double, 2> aims, Index first) {
    const std::size_t n = steps.shape(0), n_steps = steps.shape(1), n_draws = aims.shape(0);
    if (aims.shape(1) != n) throw std::invalid_argument("one random number for each instance");
    if (n_steps == 0 || first < 0) throw std::invalid_argument("at least one step, and instances are numbered from 0");
    auto labels = raw<Index>(n_draws * n);
    {
        nb::gil_scoped_release release;
        find_steps(steps.data(), n_steps, n, first, aims.data(), n_draws, labels.get());
    }
    return lanes::to_matrix(std::move(labels), n_draws, n);
}

// -- what is counted --------------------------------------------------------------------------------------------------------------

UQASSAY_CLONES Index greatest_of(const Index *values, std::size_t n, Index &smallest) {
    Index low = 0, high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    smallest = low;
    return high;
}

// Number of events in each bin of the class that happened, (D, K, B): instance i with label k falls into bin places[k, i].
template <class P>
void count_events(const P *places, std::size_t n, std::size_t n_classes, std::size_t n_bins, const Index *labels,
                  std::size_t n_draws, double *counts) {
    const std::size_t size = n_classes * n_bins;
    std::vector<std::uint32_t> even(size), odd(size);  // in turns: a counter that was just written is slow to read
    lanes::Interruptible loop;
    for (std::size_t d = 0; d < n_draws; ++d) {
        const Index *label = labels + d * n;
        std::fill(even.begin(), even.end(), 0u);
        std::fill(odd.begin(), odd.end(), 0u);
        std::size_t i = 0;
        for (; i + 1 < n; i += 2) {
            const std::size_t a = std::size_t(label[i]), b = std::size_t(label[i + 1]);
            ++even[a * n_bins + places[a * n + i]];
            ++odd[b * n_bins + places[b * n + i + 1]];
        }
        if (i < n) ++even[std::size_t(label[i]) * n_bins + places[std::size_t(label[i]) * n + i]];
        for (std::size_t j = 0; j < size; ++j) counts[d * size + j] = double(even[j]) + double(odd[j]);
        loop.worked(2 * n + size);
    }
}

template <class P>
nb::object events_of_classes(In<P, 2> places, In<Index, 2> labels, Index n_bins) {
    const std::size_t n_classes = places.shape(0), n = places.shape(1), n_draws = labels.shape(0);
    if (labels.shape(1) != n) throw std::invalid_argument("one label for each instance");
    if (n_bins < 1 || n >> 32) throw std::invalid_argument("at least one bin, and fewer than 2^32 instances");
    const std::size_t size = n_classes * std::size_t(n_bins);
    auto counts = raw<double>(n_draws * size);
    {
        nb::gil_scoped_release release;
        Index low = 0;
        if (greatest_of(labels.data(), n_draws * n, low) >= Index(n_classes) || low < 0)
            throw std::invalid_argument("a label outside the classes");
        P most = 0;
        for (std::size_t i = 0; i < n_classes * n; ++i) most = std::max(most, places.data()[i]);
        if (Index(most) >= n_bins) throw std::invalid_argument("a place outside the bins");
        count_events(places.data(), n, n_classes, std::size_t(n_bins), labels.data(), n_draws, counts.get());
    }
    double *pointer = counts.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<double *>(p); });
    return nb::cast(Out<double, 3>(pointer, {n_draws, n_classes, std::size_t(n_bins)}, owner));
}

// Bit d of instance i: whether its label in draw d is the predicted class.
UQASSAY_CLONES void mark_hits(const Index *events, const Index *labels, std::size_t n, std::size_t n_draws, std::uint8_t *hits) {
    for (std::size_t i = 0; i < n; ++i) hits[i] = 0;
    for (std::size_t d = 0; d < n_draws; ++d) {
        const Index *label = labels + d * n;
        const std::uint8_t bit = std::uint8_t(1u << d);
        for (std::size_t i = 0; i < n; ++i) hits[i] = std::uint8_t(hits[i] | (events[i] == label[i] ? bit : 0));
    }
}

// Greatest and least running sum of confidence minus hit, in rising order of the confidences, draws side by side.
struct CumulativeErrors {
    template <class V>
    UQASSAY_INLINE static void run(const Index *events, const Index *order, const double *rising, const bool *ends,
                                   std::size_t n, const Index *labels, std::size_t n_draws, bool range, double *values) {
        constexpr std::size_t L = lanes::width<V>;
        lanes::Room<V> patterns(std::size_t(1) << L);
        double *bits = reinterpret_cast<double *>(patterns.get());
        for (std::size_t p = 0; p < std::size_t(1) << L; ++p)
            for (std::size_t l = 0; l < L; ++l) bits[p * L + l] = double((p >> l) & 1u);
        std::vector<std::uint8_t> hits(n);
        lanes::Interruptible loop;
        for (std::size_t d = 0; d < n_draws; d += L) {
            const std::size_t count = std::min(L, n_draws - d);
            mark_hits(events, labels + d * n, n, count, hits.data());
            V sum = all<V>(0.0), high = sum, low = sum;
            for (std::size_t j = 0; j < n; ++j) {
                sum = sum + (all<V>(rising[j]) - patterns.get()[hits[std::size_t(order[j])]]);
                if (ends[j]) {  // between equal confidences the sum is not evaluated
                    high = greatest(sum, high);
                    low = least(sum, low);
                }
            }
            for (std::size_t l = 0; l < count; ++l)
                values[d + l] = (range ? high[int(l)] - low[int(l)] : std::max(high[int(l)], -low[int(l)])) / double(n);
            loop.worked(n * L);
        }
    }
};

Out<double, 1> cumulative_errors(In<Index, 1> events, In<Index, 1> order, In<double, 1> rising, In<bool, 1> ends,
                                 In<Index, 2> labels, bool range) {
    const std::size_t n = events.shape(0), n_draws = labels.shape(0);
    if (order.shape(0) != n || rising.shape(0) != n || ends.shape(0) != n || labels.shape(1) != n)
        throw std::invalid_argument("one entry for each instance");
    Index low = 0;
    if (greatest_of(order.data(), n, low) >= Index(n) || low < 0) throw std::invalid_argument("an order of the instances");
    auto values = raw<double>(n_draws);
    {
        nb::gil_scoped_release release;
        lanes::run<CumulativeErrors>(events.data(), order.data(), rising.data(), ends.data(), n, labels.data(), n_draws, range,
                                     values.get());
    }
    return to_array(std::move(values), n_draws);
}

// The same for deviations (n,) of groups whose signs (D, G) change, patterns of signs side by side.
struct SignedErrors {
    template <class V>
    UQASSAY_INLINE static void run(const Index *groups, const double *deviations, const bool *ends, std::size_t n,
                                   const double *signs, std::size_t n_patterns, std::size_t n_groups, bool range, double *values) {
        constexpr std::size_t L = lanes::width<V>, SIDE = 4;
        lanes::Room<V> turned(n_groups * SIDE);
        double *to = reinterpret_cast<double *>(turned.get());
        lanes::Interruptible loop;
        for (std::size_t start = 0; start < n_patterns; start += L * SIDE) {
            const std::size_t count = std::min(L * SIDE, n_patterns - start);
            for (std::size_t g = 0; g < n_groups; ++g)
                for (std::size_t p = 0; p < L * SIDE; ++p)
                    to[g * L * SIDE + p] = p < count ? signs[(start + p) * n_groups + g] : 0.0;
            V sum[SIDE], high[SIDE], low[SIDE];
            for (std::size_t a = 0; a < SIDE; ++a) sum[a] = high[a] = low[a] = all<V>(0.0);
            for (std::size_t j = 0; j < n; ++j) {
                const V *sign = turned.get() + std::size_t(groups[j]) * SIDE, deviation = all<V>(deviations[j]);
                for (std::size_t a = 0; a < SIDE; ++a) sum[a] = sum[a] + sign[a] * deviation;
                if (!ends[j]) continue;
                for (std::size_t a = 0; a < SIDE; ++a) {
                    high[a] = greatest(sum[a], high[a]);
                    low[a] = least(sum[a], low[a]);
                }
            }
            for (std::size_t p = 0; p < count; ++p) {
                const double most = high[p / L][int(p % L)], fewest = low[p / L][int(p % L)];
                values[start + p] = (range ? most - fewest : std::max(most, -fewest)) / double(n);
            }
            loop.worked(4 * n * SIDE);
        }
    }
};

Out<double, 1> signed_errors(In<Index, 1> groups, In<double, 1> deviations, In<bool, 1> ends, In<double, 2> signs, bool range) {
    const std::size_t n = groups.shape(0), n_patterns = signs.shape(0), n_groups = signs.shape(1);
    if (deviations.shape(0) != n || ends.shape(0) != n) throw std::invalid_argument("one entry for each instance");
    Index low = 0;
    if (greatest_of(groups.data(), n, low) >= Index(n_groups) || low < 0) throw std::invalid_argument("a group without a sign");
    auto values = raw<double>(n_patterns);
    {
        nb::gil_scoped_release release;
        lanes::run<SignedErrors>(groups.data(), deviations.data(), ends.data(), n, signs.data(), n_patterns, n_groups, range,
                                 values.get());
    }
    return to_array(std::move(values), n_patterns);
}

}  // namespace

void bind_labels(nb::module_ &m) {
    using nb::arg;
    m.def("counted_steps", &counted_steps, arg("steps").noconvert(), arg("aims").noconvert(),
          "How many of the steps (S, n) of its distribution function each random number (D, n) reaches, (D, n).");
    m.def("found_steps", &found_steps, arg("steps").noconvert(), arg("aims").noconvert(), arg("first"),
          "The same for many rising steps (n, S); steps and numbers are shifted by the number of the instance, from `first` on.");
    m.def("inverted_labels", &inverted_labels, arg("probs").noconvert(), arg("uniform").noconvert(),
          "Labels (D, n) of distributions (D, K, n), which need not sum to 1, by inversion at random numbers (D, n).");
    m.def("events_of_classes", &events_of_classes<std::uint8_t>, arg("places").noconvert(), arg("labels").noconvert(),
          arg("n_bins"));
    m.def("events_of_classes", &events_of_classes<std::uint16_t>, arg("places").noconvert(), arg("labels").noconvert(),
          arg("n_bins"), "Number of labels (D, n) of each class in each of its bins, (D, K, B), for bins (K, n) of all classes.");
    m.def("cumulative_errors", &cumulative_errors, arg("events").noconvert(), arg("order").noconvert(),
          arg("rising").noconvert(), arg("ends").noconvert(), arg("labels").noconvert(), arg("range"),
          "Range of the running sums of confidence minus hit, or the greatest one in size, over n, for each draw of labels (D, n).");
    m.def("signed_errors", &signed_errors, arg("groups").noconvert(), arg("deviations").noconvert(), arg("ends").noconvert(),
          arg("signs").noconvert(), arg("range"),
          "The same for deviations (n,), each with the sign of its group (n,), for each pattern of signs (D, G).");
}
