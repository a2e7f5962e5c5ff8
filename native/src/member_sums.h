// Sums over the members of each instance, weighted by their shares and independent of their order: the twin of `member_sums` in
// src/uqassay/predictions/sums_over_members.py. Instances lie side by side in the lanes.
#pragma once

#include "envelope.h"

#include <vector>

namespace member_sums {

// As `OrderFreeSum`: Knuth's two-sum; the rounding errors have a sum of their own.
template <class V>
struct OrderFree {
    V sum{}, errors{};
    UQASSAY_INLINE void add(const V &term) {
        const V total = lanes::plus(sum, term), added = total - sum;
        errors = lanes::plus(errors, lanes::plus(lanes::plus(added - total, sum), term - added));
        sum = total;
    }
    UQASSAY_INLINE V value() const { return sum + errors; }
};

// Probabilities of members (m, k), their shares (m) and the mean (k), if it was given, in lanes; room for 4 m vectors.
template <class V>
struct Members {
    const V *probs, *shares, *mean;
    std::size_t m, k;
    V *room;
};

// Instances of members (n, m, k), as many at a time as a vector has lanes; one matrix of `Terms::widths` columns after the other.
template <class Terms>
struct Sums {
    template <class V, class T>
    UQASSAY_INLINE static void run(const T *probs, std::size_t n, std::size_t m, std::size_t k, const double *shares,
                                   std::size_t n_shares, const double *given, double *const *to, const std::size_t *widths,
                                   std::size_t n_outputs, std::size_t width) {
        constexpr std::size_t L = lanes::width<V>;
        lanes::Room<V> memory(m * k + 5 * m + k + width);
        V *const block = memory.get(), *const share = block + m * k, *const room = share + m, *const mean = room + 4 * m;
        V *const out = mean + k;
        lanes::Interruptible loop;
        if (n_shares == 1)
            for (std::size_t j = 0; j < m; ++j) share[j] = lanes::all<V>(shares[j]);
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            V *next = block;
            envelope::load<V>(probs + row * m * k, m * k, count, [&next](const V &p) { *next++ = lanes::greatest(p, V{}); });
            if (n_shares > 1) {
                next = share;
                envelope::load<V>(shares + row * m, m, count, [&next](const V &w) { *next++ = w; });
            }
            if (given) {
                next = mean;
                envelope::load<V>(given + row * k, k, count, [&next](const V &p) { *next++ = p; });
            }
            Terms::run(Members<V>{block, share, mean, m, k, room}, out);
            const V *from = out;
            for (std::size_t o = 0; o < n_outputs; from += widths[o++])
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t c = 0; c < widths[o]; ++c) to[o][(row + i) * widths[o] + c] = from[c][i];
            loop.worked(50 * L * m * k);
        }
    }
};

template <class Terms, class T>
nb::list summed(In<T, 3> probs, In<double, 2> shares, const double *given) {
    const std::size_t n = probs.shape(0), m = probs.shape(1), k = probs.shape(2);
    if (shares.shape(1) != m || (shares.shape(0) != 1 && shares.shape(0) != n) || m < 1 || k < 1)
        throw nb::value_error("needs members (n, M, K) and shares (1, M) or (n, M)");
    const auto widths = Terms::widths(k);
    std::vector<std::unique_ptr<double[]>> outputs;
    std::vector<double *> to;
    std::size_t width = 0;
    for (const std::size_t w : widths) {
        outputs.push_back(raw<double>(n * w));
        to.push_back(outputs.back().get());
        width += w;
    }
    {
        nb::gil_scoped_release release;
        lanes::run<Sums<Terms>>(probs.data(), n, m, k, shares.data(), shares.shape(0), given, to.data(), widths.data(),
                                widths.size(), width);
    }
    nb::list found;
    for (std::size_t o = 0; o < widths.size(); ++o) found.append(lanes::to_matrix(std::move(outputs[o]), n, widths[o]));
    return found;
}

template <class Terms, class T>
nb::list sums_of(In<T, 3> probs, In<double, 2> shares) {
    return summed<Terms>(probs, shares, nullptr);
}

template <class Terms, class T>
nb::list sums_from(In<T, 3> probs, In<double, 2> shares, In<double, 2> mean) {
    if (mean.shape(0) != probs.shape(0) || mean.shape(1) != probs.shape(2)) throw nb::value_error("needs a mean (n, K)");
    return summed<Terms>(probs, shares, mean.data());
}

template <class Terms>
void define(nb::module_ &m, const char *name, const char *text) {
    m.def(name, &sums_of<Terms, float>, nb::arg("probs").noconvert(), nb::arg("shares").noconvert());
    m.def(name, &sums_of<Terms, double>, nb::arg("probs").noconvert(), nb::arg("shares").noconvert(), text);
}

template <class Terms>
void define_from_mean(nb::module_ &m, const char *name, const char *text) {
    m.def(name, &sums_from<Terms, float>, nb::arg("probs").noconvert(), nb::arg("shares").noconvert(),
          nb::arg("mean").noconvert());
    m.def(name, &sums_from<Terms, double>, nb::arg("probs").noconvert(), nb::arg("shares").noconvert(),
          nb::arg("mean").noconvert(), text);
}

}  // namespace member_sums
