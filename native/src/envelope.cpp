// Imprecision of hulls, as the generalised Hartley measure: weighted gaps between the lower and upper probabilities of all
// events. The upper probability of each class is a by-product of the same pass.
#include "envelope.h"

namespace {

// Upper probability of the last class, whose event is not in the half lattice.
template <class V>
UQASSAY_INLINE V last_class(envelope::Group<V> &g) {
    const V *p = g.points.get() + g.n_classes - 1;
    V most = *p;
    for (std::size_t v = 1; v < g.n_points; ++v) most = lanes::greatest(p[v * g.n_classes], most);
    return most;
}

// Gaps of event e below and above its reference, weighted.
template <class V>
UQASSAY_INLINE V gap(envelope::Group<V> &g, std::size_t e, const double *below, const double *above) {
    const V reference = g.reference.get()[e];
    return (reference - g.lower.get()[e]) * lanes::all<V>(below[e]) + (g.upper.get()[e] - reference) * lanes::all<V>(above[e]);
}

template <class T>
struct HullImprecision {
    template <class V>
    UQASSAY_INLINE static void run(const T *points, std::size_t n, std::size_t m, std::size_t k, const double *below,
                                   const double *above, double *values, double *of_class) {
        constexpr std::size_t L = lanes::width<V>;
        envelope::Group<V> g(m, k);
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            envelope::load_points(points + row * m * k, count, g);
            envelope::half_lattice(g);
            for (std::size_t c = 0; c < k; ++c) {
                const V most = c + 1 < k ? g.upper.get()[std::size_t(1) << c] : last_class(g);
                for (std::size_t i = 0; i < count; ++i) of_class[(row + i) * k + c] = most[i];
            }
            V *gaps = g.lower.get();
            const std::size_t half = g.n_events / 2;  // the first step of `fold`, while the gaps are in registers
            for (std::size_t e = 0; e < half; ++e) gaps[e] = gap(g, e, below, above) + gap(g, half + e, below, above);
            const V total = half > 0 ? lanes::fold(gaps, half) : gap(g, 0, below, above);
            for (std::size_t i = 0; i < count; ++i) values[row + i] = total[i];
        }
    }
};

template <class T>
nb::tuple hull_imprecision(In<T, 3> points, In<double, 1> below, In<double, 1> above) {
    const std::size_t n = points.shape(0), m = points.shape(1), k = points.shape(2);
    envelope::check(m, k);
    envelope::check_weights(below.shape(0), std::size_t(1) << (k - 1));
    envelope::check_weights(above.shape(0), std::size_t(1) << (k - 1));
    auto values = raw<double>(n), of_class = raw<double>(n * k);
    {
        nb::gil_scoped_release release;
        lanes::run<HullImprecision<T>>(points.data(), n, m, k, below.data(), above.data(), values.get(),
                                      of_class.get());
    }
    return nb::make_tuple(to_array(std::move(values), n), lanes::to_matrix(std::move(of_class), n, k));
}

}  // namespace

void bind_envelope(nb::module_ &m) {
    m.def("hull_imprecision", &hull_imprecision<float>, nb::arg("points").noconvert(), nb::arg("below").noconvert(), nb::arg("above").noconvert());
    m.def("hull_imprecision", &hull_imprecision<double>, nb::arg("points").noconvert(), nb::arg("below").noconvert(), nb::arg("above").noconvert(),
          "Σ (reference − lower) · below + (upper − reference) · above over the half lattice (2^(K−1),) of points (n, M, K), "
          "(n,), and the upper probability of each class (n, K).");
}
