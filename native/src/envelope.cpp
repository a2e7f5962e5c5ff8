// Imprecision of hulls, as the generalised Hartley measure: weighted gaps between the lower and upper probabilities of all
// events. The upper probability of each class is a by-product of the same pass.
#include "envelope.h"
#include "radix.h"

namespace {

// Weighted gaps of the events below and above their probability under the first point, the reference.
template <class V>
struct Gaps {
    envelope::Group<V> &g;
    const double *below, *above;
    V *reference;  // of base events
    V *sums;       // of the gaps of a base event and its extensions
    V *of_class;   // upper probability of each class

    UQASSAY_INLINE void start() {
        reference[0] = lanes::all<V>(0.0);
        for (std::size_t c = 0, n = 1; c < g.depth; ++c, n *= 2)
            for (std::size_t a = 0; a < n; ++a) reference[n + a] = reference[a] + *g.of_class(c);
        const std::size_t last = g.n_classes - 1;  // its event is not in the half lattice
        V most = *g.of_class(last);
        for (std::size_t v = 1; v < g.n_points; ++v) most = lanes::greatest(g.of_class(last)[v], most);
        of_class[last] = most;
    }

    template <int T>
    UQASSAY_INLINE void extensions(std::size_t a, const V *low, const V *high) {
        constexpr int E = 1 << T;
        V at[E], gaps[E];
        at[0] = reference[a];
#pragma GCC unroll 8
        for (int e = 1; e < E; ++e) {
            const int t = e < 2 ? 0 : e < 4 ? 1 : 2;  // the last class of e
            at[e] = at[e - (1 << t)] + *g.of_class(g.depth + std::size_t(t));
        }
#pragma GCC unroll 8
        for (int e = 0; e < E; ++e) {
            const std::size_t event = a + std::size_t(e) * g.n_base;
            gaps[e] = (at[e] - low[e]) * lanes::spread<V>(below[event]) + (high[e] - at[e]) * lanes::spread<V>(above[event]);
        }
#pragma GCC unroll 3
        for (int half = E / 2; half > 0; half /= 2)  // the first steps of the fold over all events
#pragma GCC unroll 4
            for (int e = 0; e < half; ++e) gaps[e] = gaps[e] + gaps[half + e];
        sums[a] = gaps[0];
        if (a == 0)
            for (int t = 0; t < T; ++t) of_class[g.depth + std::size_t(t)] = high[1 << t];
        else if ((a & (a - 1)) == 0)
            of_class[std::size_t(radix::bit_length(a)) - 1] = high[0];
    }
};

template <class T>
struct HullImprecision {
    template <class V>
    UQASSAY_INLINE static void run(const T *points, std::size_t n, std::size_t m, std::size_t k, const double *below,
                                   const double *above, double *values, double *of_class) {
        constexpr std::size_t L = lanes::width<V>;
        envelope::Group<V> g(m, k);
        lanes::Room<V> reference(g.n_base), sums(g.n_base), upper(k);
        Gaps<V> gaps{g, below, above, reference.get(), sums.get(), upper.get()};
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            envelope::load_points(points, row, n, g);
            gaps.start();
            envelope::half_lattice(g, gaps);
            for (std::size_t c = 0; c < k; ++c)
                for (std::size_t i = 0; i < count; ++i) of_class[(row + i) * k + c] = upper.get()[c][i];
            const V total = lanes::fold(sums.get(), g.n_base);
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
