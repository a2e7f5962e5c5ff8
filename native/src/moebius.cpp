// The unified evaluation's convention for hulls: lower probabilities of all events, Möbius inverse, masses clipped and
// renormalised, their weighted sum and the plausibility of each class. The order of all sums is that of
// `_on_all_events` and `mass_sum` in src/uqassay/measures/clipped_masses.py.
#include "envelope.h"

namespace {

using lanes::all;
using lanes::greatest;

// Möbius inverse in place, m(A) = Σ_{B⊆A} (−1)^{|A−B|} L(B). Halves first, so that small blocks stay in the cache; an
// element meets its classes in ascending order, as in the formula.
template <class V>
UQASSAY_INLINE void moebius(V *x, std::size_t n_events) {
    if (n_events < 8) {
        for (std::size_t step = 1; step < n_events; step *= 2)
            for (std::size_t a = 0; a < n_events; ++a)
                if (a & step) x[a] = x[a] - x[a ^ step];
        return;
    }
    for (std::size_t block = 0; block < n_events; block += 8) {
        V *y = x + block;
        y[1] = y[1] - y[0], y[3] = y[3] - y[2], y[5] = y[5] - y[4], y[7] = y[7] - y[6];
        y[2] = y[2] - y[0], y[3] = y[3] - y[1], y[6] = y[6] - y[4], y[7] = y[7] - y[5];
        y[4] = y[4] - y[0], y[5] = y[5] - y[1], y[6] = y[6] - y[2], y[7] = y[7] - y[3];
        // every larger block that ends here
        for (std::size_t step = 8; step < n_events && ((block + 8) & (2 * step - 1)) == 0; step *= 2) {
            V *high = x + block + 8 - step, *low = high - step;
            for (std::size_t a = 0; a < step; ++a) high[a] = high[a] - low[a];
        }
    }
}

// Lower probabilities of all events from the bounds of the half lattice: L(Aᶜ) = 1 − U(A).
template <class V>
struct LowerOfAll {
    const std::size_t n_base, n_events;
    V *lower;

    template <int T>
    UQASSAY_INLINE void extensions(std::size_t a, const V *low, const V *high) {
#pragma GCC unroll 8
        for (int e = 0; e < 1 << T; ++e) {
            const std::size_t event = a + std::size_t(e) * n_base;
            lower[event] = low[e];
            lower[n_events - 1 - event] = all<V>(1.0) - high[e];
        }
    }
};

template <class T>
struct ClippedHull {
    template <class V>
    UQASSAY_INLINE static void run(const T *points, std::size_t n, std::size_t m, std::size_t k, const double *weights,
                                   double *values, double *plausibility) {
        constexpr std::size_t L = lanes::width<V>;
        envelope::Group<V> g(m, k);
        const std::size_t E = g.n_events, events = 2 * E;
        lanes::Room<V> masses_room(events), sums_room(events);
        V *masses = masses_room.get(), *sums = sums_room.get();
        const V zero = all<V>(0.0), one = all<V>(1.0);
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            envelope::load_points(points, row, n, g);
            envelope::half_lattice(g, LowerOfAll<V>{g.n_base, events, masses});
            moebius(masses, events);
            for (std::size_t a = 0; a < E; ++a) {
                masses[a] = greatest(masses[a], zero);
                masses[E + a] = greatest(masses[E + a], zero);
                sums[a] = masses[a] + masses[E + a];
            }
            const V total = lanes::fold(sums, E);
            masses[events - 1] = masses[events - 1] + greatest(zero, one - total);
            const V scale = greatest(total, one);
            for (std::size_t a = 0; a < E; ++a) {
                masses[a] = masses[a] / scale;
                masses[E + a] = masses[E + a] / scale;
                sums[a] = masses[a] * lanes::spread<V>(weights[a]) + masses[E + a] * lanes::spread<V>(weights[E + a]);
            }
            const V value = lanes::fold(sums, E);
            for (std::size_t i = 0; i < count; ++i) values[row + i] = value[i];
            // plausibility of class c; then merge events that differ only in c
            for (std::size_t c = k, half = E; c-- > 0; half /= 2) {
                for (std::size_t a = 0; a < half; ++a) {
                    sums[a] = masses[half + a];
                    masses[a] = masses[a] + masses[half + a];
                }
                const V of_class = lanes::fold(sums, half);
                for (std::size_t i = 0; i < count; ++i) plausibility[(row + i) * k + c] = of_class[i];
            }
        }
    }
};

template <class T>
nb::tuple clipped_hull(In<T, 3> points, In<double, 1> weights) {
    const std::size_t n = points.shape(0), m = points.shape(1), k = points.shape(2);
    envelope::check(m, k);
    envelope::check_weights(weights.shape(0), std::size_t(1) << k);
    auto values = raw<double>(n), plausibility = raw<double>(n * k);
    {
        nb::gil_scoped_release release;
        lanes::run<ClippedHull<T>>(points.data(), n, m, k, weights.data(), values.get(), plausibility.get());
    }
    return nb::make_tuple(to_array(std::move(values), n), lanes::to_matrix(std::move(plausibility), n, k));
}

}  // namespace

void bind_moebius(nb::module_ &m) {
    m.def("clipped_hull", &clipped_hull<float>, nb::arg("points").noconvert(), nb::arg("weights").noconvert());
    m.def("clipped_hull", &clipped_hull<double>, nb::arg("points").noconvert(), nb::arg("weights").noconvert(),
          "Clipped and renormalised masses of all events (2^K,) over points (n, M, K): their weighted sum (n,) and the "
          "plausibility of each class (n, K).");
}
