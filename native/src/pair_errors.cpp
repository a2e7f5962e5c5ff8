// Kernel calibration error of mixtures over consecutive pairs of instances: k(p, q) (p − e_y) · (q − e_z) with
// k = exp(−scale ‖p − q‖₁).
#include "evaluator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace {

using namespace mixtures;

struct Pairs {
    std::size_t n, m, n_classes;
    double scale;
    std::vector<double> probs;  // (⌊n/2⌋, 2, K, M)

    std::size_t n_instances() const { return n; }
    std::size_t n_members() const { return m; }

    void new_labels(const Index *labels, Space<double> &space) const {
        for (std::size_t i = 0; i < n; ++i)
            if (labels[i] < 0 || std::size_t(labels[i]) >= n_classes) throw std::invalid_argument("a label is not a class");
        space.labels.assign(labels, labels + n);
    }
};

// e^x for x ≤ 0 (LANES), in place: 2^k e^r with |r| ≤ ln 2 / 2 and the Taylor series of e^r.
UQASSAY_INLINE void exponentials(double *__restrict x) {
    constexpr double LEAST = -708.0;  // below, the result would be subnormal
    constexpr double ROUND = 6755399441055744.0, PER_LN2 = 1.4426950408889634, LN2_HIGH = 0x1.62e42fefa0000p-1,
                     LN2_LOW = 0x1.cf79abc9e3b3ap-40;
    constexpr double SERIES[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                 1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
    for (int l = 0; l < LANES; ++l) {
        const double bounded = x[l] > LEAST ? x[l] : LEAST;
        const double shifted = bounded * PER_LN2 + ROUND, k = shifted - ROUND;
        const double r = (bounded - k * LN2_HIGH) - k * LN2_LOW;
        double sum = 1.0 / 6227020800;
        for (double term : SERIES) sum = sum * r + term;
        std::uint64_t power;  // unsigned: the shift drops the upper bits
        std::memcpy(&power, &shifted, sizeof power);
        power = (power + 1023) << 52;  // the last bits of `shifted` are k
        double two;
        std::memcpy(&two, &power, sizeof two);
        x[l] = sum * two;
    }
}

// ‖p − q‖₁ and p · q of probabilities (K, LANES), in order of the classes.
UQASSAY_INLINE void distances_and_products(const double *p, const double *q, std::size_t k, double *distance, double *product) {
#ifdef UQASSAY_VECTORS
    using V = Piece<double>;
    constexpr int N = LANES / PIECE<double>;
    V apart[N] = {}, together[N] = {};
    for (std::size_t c = 0; c < k; ++c) {
        const V *one = reinterpret_cast<const V *>(p + c * LANES), *other = reinterpret_cast<const V *>(q + c * LANES);
        for (int i = 0; i < N; ++i) {
            const V difference = one[i] - other[i];
            apart[i] += difference < 0.0 ? -difference : difference;
            together[i] += one[i] * other[i];
        }
    }
    std::memcpy(distance, apart, sizeof apart);
    std::memcpy(product, together, sizeof together);
#else
    std::fill_n(distance, LANES, 0.0);
    std::fill_n(product, LANES, 0.0);
    for (std::size_t i = 0; i < k * LANES; i += LANES)
        for (int l = 0; l < LANES; ++l) {
            distance[l] += std::fabs(p[i + l] - q[i + l]);
            product[l] += p[i + l] * q[i + l];
        }
#endif
}

UQASSAY_CLONES void run(const Pairs &d, const double *weights, const double *, Space<double> &space, double *out) {
    const std::size_t n_pairs = d.n / 2, k = d.n_classes;
    space.probs.resize(2 * k * LANES);
    space.amounts.resize(std::max<std::size_t>(n_pairs, 1) * LANES);
    space.sums.resize(n_pairs * LANES);
    const double *p = space.probs.data(), *q = p + k * LANES;
    double distance[LANES], product[LANES];
    for (std::size_t j = 0; j < n_pairs; ++j) {
        const std::int32_t y = space.labels[2 * j], z = space.labels[2 * j + 1];
        mix(weights, d.probs.data() + j * 2 * k * d.m, d.m, 2 * k, space.probs.data());
        distances_and_products(p, q, k, distance, product);
        const double *at_z = p + std::size_t(z) * LANES, *at_y = q + std::size_t(y) * LANES, same = y == z ? 1.0 : 0.0;
        double *similar = space.amounts.data() + j * LANES, *errors = space.sums.data() + j * LANES;
        for (int l = 0; l < LANES; ++l) similar[l] = distance[l] * -d.scale;
        for (int l = 0; l < LANES; ++l) errors[l] = ((product[l] - at_z[l]) - at_y[l]) + same;
    }
    // of all pairs in one loop: the exponentials of one pair need not wait for those of another
    for (std::size_t j = 0; j < n_pairs * LANES; j += LANES) {
        double *term = space.amounts.data() + j;
        exponentials(term);
        for (int l = 0; l < LANES; ++l) term[l] = space.sums[j + std::size_t(l)] * term[l];
    }
    pairwise_sum(space.amounts.data(), n_pairs, out);
    for (int l = 0; l < LANES; ++l) out[l] = n_pairs ? out[l] / double(n_pairs) : std::numeric_limits<double>::quiet_NaN();
}

std::unique_ptr<Evaluator> pair_errors(In<double, 3> probs, double scale) {
    auto d = std::make_unique<Pairs>();
    d->n = probs.shape(0);
    d->n_classes = probs.shape(1);
    d->m = probs.shape(2);
    d->scale = scale;
    d->probs.assign(probs.data(), probs.data() + d->n / 2 * 2 * d->n_classes * d->m);
    return evaluator<double, Pairs>(std::move(d), run);
}

}  // namespace

void bind_pair_errors(nb::module_ &m) {
    using nb::arg;
    m.def("pair_errors", &pair_errors, arg("probs").noconvert(), arg("scale"),
          "Evaluator of the kernel calibration error over consecutive pairs, for members' probabilities (n, K, M).");
}
