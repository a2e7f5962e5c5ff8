// Plain loops over instances, compiled like the kernels, that benchmarks compare with.
#include "kernels.h"
#include "lanes.h"

#include <cmath>
#include <vector>

namespace {

// KL of the label and Dubois-Prade non-specificity in the unified evaluation's convention, as a first version in C would have it.
UQASSAY_CLONES void plain_clipped(const double *points, std::size_t n, std::size_t m, std::size_t k, const std::int64_t *label,
                                  double *out, double *lower, double *sums) {
    const std::size_t events = std::size_t(1) << k;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t a = 0; a < events; ++a) lower[a] = 1.0;
        for (std::size_t v = 0; v < m; ++v) {
            const double *p = points + (i * m + v) * k;
            sums[0] = 0.0;
            for (std::size_t c = 0; c < k; ++c) {
                const std::size_t half = std::size_t(1) << c;
                for (std::size_t a = 0; a < half; ++a) sums[half + a] = sums[a] + p[c];
            }
            for (std::size_t a = 0; a < events; ++a) lower[a] = sums[a] < lower[a] ? sums[a] : lower[a];
        }
        for (std::size_t step = 1; step < events; step *= 2)
            for (std::size_t block = 0; block < events; block += 2 * step)
                for (std::size_t a = block; a < block + step; ++a) lower[step + a] -= lower[a];
        double total = 0.0;
        for (std::size_t a = 0; a < events; ++a) total += lower[a] = lower[a] > 0.0 ? lower[a] : 0.0;
        lower[events - 1] += total < 1.0 ? 1.0 - total : 0.0;
        const double scale = total < 1.0 ? 1.0 : total;
        double of_label = 0.0, hartley = 0.0;
        double logs[65] = {};
        for (std::size_t c = 1; c <= k; ++c) logs[c] = std::log(double(c));
        for (std::size_t a = 0; a < events; ++a) {
            int size = 0;
            for (std::size_t rest = a; rest; rest &= rest - 1) ++size;
            hartley += lower[a] * logs[size];
            if (a >> label[i] & 1) of_label += lower[a];
        }
        out[2 * i] = -std::log(of_label / scale);
        out[2 * i + 1] = hartley / scale;
    }
}

// KL of the label under its upper probability, and generalised Hartley measure by the Möbius inverse, as a first version in C.
UQASSAY_CLONES void plain_exact(const double *points, std::size_t n, std::size_t m, std::size_t k, const std::int64_t *label,
                                double *out, double *lower, double *sums) {
    const std::size_t events = std::size_t(1) << k;
    double logs[65] = {};
    for (std::size_t c = 1; c <= k; ++c) logs[c] = std::log(double(c));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t a = 0; a < events; ++a) lower[a] = 1.0;
        double upper = 0.0;
        for (std::size_t v = 0; v < m; ++v) {
            const double *p = points + (i * m + v) * k;
            upper = p[label[i]] > upper ? p[label[i]] : upper;
            sums[0] = 0.0;
            for (std::size_t c = 0; c < k; ++c) {
                const std::size_t half = std::size_t(1) << c;
                for (std::size_t a = 0; a < half; ++a) sums[half + a] = sums[a] + p[c];
            }
            for (std::size_t a = 0; a < events; ++a) lower[a] = sums[a] < lower[a] ? sums[a] : lower[a];
        }
        for (std::size_t step = 1; step < events; step *= 2)
            for (std::size_t block = 0; block < events; block += 2 * step)
                for (std::size_t a = block; a < block + step; ++a) lower[step + a] -= lower[a];
        double hartley = 0.0;
        for (std::size_t a = 0; a < events; ++a) {
            int size = 0;
            for (std::size_t rest = a; rest; rest &= rest - 1) ++size;
            hartley += lower[a] * logs[size];
        }
        out[2 * i] = -std::log(upper);
        out[2 * i + 1] = hartley;
    }
}

using Loop = void(const double *, std::size_t, std::size_t, std::size_t, const std::int64_t *, double *, double *, double *);

template <Loop *loop>
Out<double, 2> terms(In<double, 3> points, In<std::int64_t, 1> label) {
    const std::size_t n = points.shape(0), m = points.shape(1), k = points.shape(2);
    auto out = raw<double>(2 * n);
    {
        nb::gil_scoped_release release;
        std::vector<double> lower(std::size_t(1) << k), sums(std::size_t(1) << k);
        loop(points.data(), n, m, k, label.data(), out.get(), lower.data(), sums.data());
    }
    return lanes::to_matrix(std::move(out), n, 2);
}

}  // namespace

void bind_yardsticks(nb::module_ &m) {
    nb::module_ yardsticks = m.def_submodule("yardsticks");
    yardsticks.def("exact_terms", &terms<plain_exact>, nb::arg("points").noconvert(), nb::arg("label").noconvert(),
                   "KL of the label and generalised Hartley measure (n, 2) of points (n, M, K).");
    yardsticks.def("clipped_terms", &terms<plain_clipped>, nb::arg("points").noconvert(), nb::arg("label").noconvert(),
                   "KL of the label and non-specificity (n, 2) of points (n, M, K) in the unified evaluation's convention.");
    yardsticks.def("use_lanes", [](int most) { lanes::most_lanes() = most; }, nb::arg("most"),
                   "Widest vectors, in doubles, that kernels with instances in lanes may use: 2, 4 or 8.");
}
