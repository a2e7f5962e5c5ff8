// Generalised Hartley measure of hulls: lower and upper probabilities of all events and their weighted gaps in one pass.
#include "envelope.h"

namespace {

template <class T>
struct HullHartley {
    template <class V>
    UQASSAY_INLINE static void run(const T *points, std::size_t n, std::size_t m, std::size_t k, const double *below,
                                   const double *above, double *values) {
        constexpr std::size_t L = lanes::width<V>;
        envelope::Group<V> g(m, k);
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            g.load(points + row * m * k, count);
            envelope::half_lattice(g);
            V *gap = g.lower.get();
            const V *reference = g.reference.get(), *upper = g.upper.get();
            for (std::size_t e = 0; e < g.n_events; ++e)
                gap[e] = (reference[e] - gap[e]) * lanes::all<V>(below[e]) + (upper[e] - reference[e]) * lanes::all<V>(above[e]);
            const V total = lanes::fold(gap, g.n_events);
            for (std::size_t i = 0; i < count; ++i) values[row + i] = total[i];
        }
    }
};

template <class T>
Out<double, 1> hull_hartley(In<T, 3> points, In<double, 1> below, In<double, 1> above) {
    const std::size_t n = points.shape(0), m = points.shape(1), k = points.shape(2);
    envelope::check(m, k);
    envelope::check_weights(below.shape(0), std::size_t(1) << (k - 1));
    envelope::check_weights(above.shape(0), std::size_t(1) << (k - 1));
    auto values = raw<double>(n);
    {
        nb::gil_scoped_release release;
        lanes::run<HullHartley<T>>(points.data(), n, m, k, below.data(), above.data(), values.get());
    }
    return to_array(std::move(values), n);
}

}  // namespace

void bind_envelope(nb::module_ &m) {
    m.def("hull_hartley", &hull_hartley<float>, nb::arg("points"), nb::arg("below"), nb::arg("above"));
    m.def("hull_hartley", &hull_hartley<double>, nb::arg("points"), nb::arg("below"), nb::arg("above"),
          "Σ (reference − lower) · below + (upper − reference) · above over the half lattice (2^(K−1),) of points (n, M, K).");
}
