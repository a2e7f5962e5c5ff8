// Imprecision of hulls from random orders of the classes, one event of each size per order: the estimator for many classes.
// The order of all sums is that of `hull_prefixes` and `_draws` in Python.
#include "envelope.h"

namespace {

using lanes::greatest;
using lanes::least;

constexpr std::size_t PREFIX_BLOCK = 16;  // its twin is in src/uqassay/credal/lower_probability.py

template <class V>
struct Bounds {
    V *reference, *lower, *upper;
};

// Running sums of G points over one order; their bounds join those of the points before.
template <int G, class V>
UQASSAY_INLINE void add_points(const V *points, std::size_t m, const std::int64_t *order, std::size_t n_prefixes, bool first,
                               Bounds<V> to) {
    V s[G];
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g) s[g] = lanes::all<V>(0.0);
    for (std::size_t i = 0; i < n_prefixes; ++i) {
        const V *p = points + std::size_t(order[i]) * m;
#pragma GCC unroll 8
        for (int g = 0; g < G; ++g) s[g] = s[g] + p[g];
        V low = s[0], high = s[0];
#pragma GCC unroll 8
        for (int g = 1; g < G; ++g) {
            low = least(s[g], low);
            high = greatest(s[g], high);
        }
        if (first) {
            to.reference[i] = s[0];
        } else {
            low = least(low, to.lower[i]);
            high = greatest(high, to.upper[i]);
        }
        to.lower[i] = low;
        to.upper[i] = high;
    }
}

template <class T>
struct HullOrders {
    template <class V>
    UQASSAY_INLINE static void run(const T *from, std::size_t n, std::size_t m, std::size_t k, const std::int64_t *orders,
                                   std::size_t n_orders, const double *weights, double *values) {
        constexpr std::size_t L = lanes::width<V>;
        const std::size_t prefixes = k - 1;
        lanes::Room<V> points(m * k), reference(prefixes), lower(prefixes), upper(prefixes);
        lanes::Interruptible loop;
        const Bounds<V> b{reference.get(), lower.get(), upper.get()};
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            std::size_t v = 0, c = 0;
            envelope::load<V>(from + row * m * k, m * k, count, [&](const V &p) {  // class axis first
                points.get()[c * m + v] = p;
                if (++c == k) c = 0, ++v;
            });
            for (std::size_t o = 0; o < n_orders; ++o) {
                const std::int64_t *order = orders + o * k;
                std::size_t v = 0;
                for (; v + 8 <= m; v += 8) add_points<8>(points.get() + v, m, order, prefixes, v == 0, b);
                for (; v + 4 <= m; v += 4) add_points<4>(points.get() + v, m, order, prefixes, v == 0, b);
                for (; v + 2 <= m; v += 2) add_points<2>(points.get() + v, m, order, prefixes, v == 0, b);
                for (; v < m; ++v) add_points<1>(points.get() + v, m, order, prefixes, v == 0, b);
                V total = lanes::all<V>(0.0);
                for (std::size_t start = 0; start < prefixes; start += PREFIX_BLOCK) {
                    const std::size_t stop = std::min(start + PREFIX_BLOCK, prefixes);
                    for (std::size_t i = start; i < stop; ++i)  // the complement of a prefix of i + 1 classes has k − i − 1
                        b.lower[i] = (b.reference[i] - b.lower[i]) * lanes::all<V>(0.5 * weights[i]) +
                                     (b.upper[i] - b.reference[i]) * lanes::all<V>(0.5 * weights[prefixes - 1 - i]);
                    total = total + lanes::fold(b.lower + start, stop - start);
                }
                for (std::size_t i = 0; i < count; ++i) values[o * n + row + i] = total[i];
                loop.worked(m * k);
            }
        }
    }
};

template <class T>
Out<double, 2> hull_orders(In<T, 3> points, In<std::int64_t, 2> orders, In<double, 1> weights) {
    const std::size_t n = points.shape(0), m = points.shape(1), k = points.shape(2), n_orders = orders.shape(0);
    if (m < 1 || k < 2) throw nb::value_error("needs at least one point and two classes");
    if (orders.shape(1) != k || weights.shape(0) != k - 1) throw nb::value_error("needs orders (R, K) and weights (K − 1,)");
    for (std::size_t i = 0; i < n_orders * k; ++i)
        if (orders.data()[i] < 0 || std::size_t(orders.data()[i]) >= k) throw nb::value_error("needs orders of 0 … K − 1");
    auto values = raw<double>(n_orders * n);
    {
        nb::gil_scoped_release release;
        lanes::run<HullOrders<T>>(points.data(), n, m, k, orders.data(), n_orders, weights.data(), values.get());
    }
    return lanes::to_matrix(std::move(values), n_orders, n);
}

}  // namespace

void bind_prefixes(nb::module_ &m) {
    m.def("hull_orders", &hull_orders<float>, nb::arg("points").noconvert(), nb::arg("orders").noconvert(),
          nb::arg("weights").noconvert());
    m.def("hull_orders", &hull_orders<double>, nb::arg("points").noconvert(), nb::arg("orders").noconvert(),
          nb::arg("weights").noconvert(),
          "Weighted gaps (R, n) of the prefixes of each order (R, K) of the classes, over points (n, M, K), weights (K − 1,).");
}
