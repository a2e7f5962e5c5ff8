// Terms of the decompositions of uncertainty, which are summed over the members of each instance: the twins of formulas in
// src/uqassay/measures.
#include "logarithm.h"
#include "member_sums.h"
#include "sorted_rows.h"

#include <cmath>
#include <limits>

namespace {

using lanes::all;
using lanes::greatest;
using lanes::least;
using lanes::spread;
using logarithm::ONE;
using logarithm::TWO;
using logarithm::where_less;
using member_sums::define;
using member_sums::define_from_mean;
using member_sums::Members;
using member_sums::OrderFree;

constexpr double LEAST = std::numeric_limits<double>::min();  // smallest normal number
constexpr double ROUNDING = 4 * std::numeric_limits<double>::epsilon();
constexpr double OF_16_BITS = 5e-7, HALF = 0.5, NOWHERE = -1.0;

// Σ share · p
struct Means {
    static std::vector<std::size_t> widths(std::size_t k) { return {k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        for (std::size_t c = 0; c < members.k; ++c) {
            OrderFree<V> sum;
            for (std::size_t j = 0; j < members.m; ++j) sum.add(members.shares[j] * members.probs[j * members.k + c]);
            out[c] = sum.value();
        }
    }
};

// Σ share · p (1 − p) and Σ share · (p − p̄)², given p̄
struct Variances {
    static std::vector<std::size_t> widths(std::size_t k) { return {k, k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        for (std::size_t c = 0; c < members.k; ++c) {
            OrderFree<V> within, among;
            for (std::size_t j = 0; j < members.m; ++j) {
                const V p = members.probs[j * members.k + c], share = members.shares[j], d = p - members.mean[c];
                within.add(share * (p * (spread<V>(ONE) - p)));
                among.add(share * (d * d));
            }
            out[c] = within.value();
            out[members.k + c] = among.value();
        }
    }
};

// s = (p − p̄) / (p + p̄) of one class: ln(p / p̄) = 2 artanh(s); `far` where the difference of the logarithms is exact enough.
template <class V>
struct Ratio {
    V d, s, square, excess;
    UQASSAY_INLINE Ratio(const V &p, const V &mean) {
        d = p - mean;
        s = d / greatest(p + mean, spread<V>(LEAST));
        square = s * s;
        excess = logarithm::artanh_excess(square);
    }
    UQASSAY_INLINE V choose(const V &near, const V &far) const {
        return where_less(spread<V>(logarithm::NEAR), square, far, near);
    }
};

// Logarithm of a number that is at least LEAST; that of 0 is never used.
template <class V>
UQASSAY_INLINE V log_of(const V &p) {
    return logarithm::log(greatest(p, spread<V>(LEAST)));
}

template <class V>
UQASSAY_INLINE V minus_p_log_p(const V &p) {
    const V found = p * log_of(p);
    return greatest(found, V{} - found);
}

// Σ share · p ln p and Σ share · (p ln(p / p̄) − p + p̄) of one class of probabilities that lie `step` vectors apart
template <class V>
UQASSAY_INLINE void entropies(const V *probs, std::size_t step, const Members<V> &members, const V &mean, V &within, V &among) {
    const V log_mean = where_less(V{}, mean, log_of(mean), V{});
    OrderFree<V> p_log_p, divergence;
    for (std::size_t j = 0; j < members.m; ++j) {
        const V p = probs[j * step], share = members.shares[j], log_p = p * log_of(p);
        const Ratio<V> ratio(p, mean);
        const V near = ratio.s * (ratio.d + p * ratio.excess), far = (log_p - p * log_mean) - ratio.d;
        p_log_p.add(share * log_p);
        divergence.add(share * ratio.choose(near, far));
    }
    within = p_log_p.value();
    among = divergence.value();
}

// Σ share · p ln p and Σ share · (p ln(p / p̄) − p + p̄), given p̄
struct Entropies {
    static std::vector<std::size_t> widths(std::size_t k) { return {k, k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        for (std::size_t c = 0; c < members.k; ++c)
            entropies(members.probs + c, members.k, members, members.mean[c], out[c], out[members.k + c]);
    }
};

// Σ share · (p − p̄) ln(p / p̄), and Σ share where p = 0 < p̄, given p̄
struct Divergences {
    static std::vector<std::size_t> widths(std::size_t k) { return {k, k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        const V one = spread<V>(ONE), zero{};
        for (std::size_t c = 0; c < members.k; ++c) {
            const V mean = members.mean[c], log_mean = log_of(mean);
            OrderFree<V> divergence, ruled_out;
            for (std::size_t j = 0; j < members.m; ++j) {
                const V p = members.probs[j * members.k + c], share = members.shares[j];
                const Ratio<V> ratio(p, mean);
                const V near = ratio.s * (spread<V>(TWO) + ratio.excess), far = log_of(p) - log_mean;
                const V possible = where_less(zero, p, one, zero);
                divergence.add(share * (ratio.d * (possible * ratio.choose(near, far))));
                ruled_out.add(share * ((one - possible) * where_less(zero, mean, one, zero)));
            }
            out[c] = divergence.value();
            out[members.k + c] = ruled_out.value();
        }
    }
};

// Σ share · (1 − max p) and Σ share · (max p − p)
struct Regrets {
    static std::vector<std::size_t> widths(std::size_t k) { return {1, k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        V *tops = members.room;
        OrderFree<V> loss;
        for (std::size_t j = 0; j < members.m; ++j) {
            const V *p = members.probs + j * members.k;
            tops[j] = p[0];
            for (std::size_t c = 1; c < members.k; ++c) tops[j] = greatest(tops[j], p[c]);
            loss.add(members.shares[j] * (spread<V>(ONE) - tops[j]));
        }
        out[0] = loss.value();
        for (std::size_t c = 0; c < members.k; ++c) {
            OrderFree<V> lost;
            for (std::size_t j = 0; j < members.m; ++j)
                lost.add(members.shares[j] * (tops[j] - members.probs[j * members.k + c]));
            out[1 + c] = lost.value();
        }
    }
};

template <class V>
UQASSAY_INLINE V square_root(const V &x) {
    V out;
    for (int i = 0; i < lanes::width<V>; ++i) out[i] = std::sqrt(x[i]);
    return out;
}

// ‖q‖ of a row
template <class V>
UQASSAY_INLINE V norm_of(const V *q, std::size_t k) {
    OrderFree<V> squares;
    for (std::size_t c = 0; c < k; ++c) squares.add(q[c] * q[c]);
    return square_root(squares.value());
}

// Σ share · (1 − ‖p‖) and Σ share · |p − p̄ − (‖p‖ − ‖p̄‖) p̄/‖p̄‖|² / 2‖p‖, given p̄
struct Spheres {
    static std::vector<std::size_t> widths(std::size_t k) { return {1, k}; }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        const V one = spread<V>(ONE), *mean = members.mean;
        V *longer = members.room, *scale = members.room + members.m;
        const V norm_of_mean = norm_of(mean, members.k);
        OrderFree<V> loss;
        for (std::size_t j = 0; j < members.m; ++j) {
            const V *p = members.probs + j * members.k, norm = norm_of(p, members.k);
            OrderFree<V> gini, difference;  // Σ p (1 − p), and Σ (p − p̄)(p + p̄) = ‖p‖² − ‖p̄‖²
            for (std::size_t c = 0; c < members.k; ++c) {
                gini.add(p[c] * (one - p[c]));
                difference.add((p[c] - mean[c]) * (p[c] + mean[c]));
            }
            loss.add(members.shares[j] * (greatest(gini.value(), V{}) / (one + norm)));
            longer[j] = difference.value() / (norm + norm_of_mean);
            scale[j] = members.shares[j] / (norm + norm);
        }
        out[0] = loss.value();
        for (std::size_t c = 0; c < members.k; ++c) {
            const V direction = mean[c] / norm_of_mean;
            OrderFree<V> divergence;
            for (std::size_t j = 0; j < members.m; ++j) {
                const V off = (members.probs[j * members.k + c] - mean[c]) - longer[j] * direction;
                divergence.add(scale[j] * (off * off));
            }
            out[1 + c] = divergence.value();
        }
    }
};

// Entropy decomposition of "class c or not" for each class: total, aleatoric and epistemic part
struct LabelWise {
    static std::vector<std::size_t> widths(std::size_t k) {
        if (k > sorted_rows::MOST) throw nb::value_error("needs at most 128 classes");
        return {k, k, k};
    }
    template <class V>
    UQASSAY_INLINE static void run(const Members<V> &members, V *out) {
        const std::size_t m = members.m, k = members.k;
        V *others = members.room, *top = others + m, *event = top + m, *rest = event + m;
        for (std::size_t j = 0; j < m; ++j) find_top(members.probs + j * k, k, top[j], others[j]);
        const V one = spread<V>(ONE), zero{};
        for (std::size_t c = 0; c < k; ++c) {
            const double index = double(c);
            const V number = spread<V>(index);
            OrderFree<V> events, rests;
            V lowest[2] = {one, one}, highest[2] = {zero, zero};
            for (std::size_t j = 0; j < m; ++j) {
                const V share = members.shares[j], is_top = lanes::one_where_equal(top[j], number);
                event[j] = least(members.probs[j * k + c], one);
                rest[j] = where_less(zero, is_top, others[j], one - event[j]);
                events.add(share * event[j]);
                rests.add(share * rest[j]);
                bound(event[j], share, lowest[0], highest[0]);
                bound(rest[j], share, lowest[1], highest[1]);
            }
            const V mean_event = events.value(), mean_rest = rests.value();
            V within[2], among[2];
            entropies(event, 1, members, mean_event, within[0], among[0]);
            entropies(rest, 1, members, mean_rest, within[1], among[1]);
            const V total = minus_p_log_p(mean_event) + minus_p_log_p(mean_rest);
            const V differ = greatest(apart(lowest[0], highest[0]), apart(lowest[1], highest[1]));
            const V aleatoric = within[0] + within[1];
            out[c] = total;
            out[k + c] = where_less(zero, differ, greatest(aleatoric, zero - aleatoric), total);
            out[2 * k + c] = where_less(zero, differ, greatest(among[0] + among[1], zero), zero);
        }
    }

  private:
    // Sum of all classes but the most probable one, and its number; -1 where 1 − p is as exact as the sum or the row was rounded.
    template <class V>
    UQASSAY_INLINE static void find_top(const V *p, std::size_t k, V &top, V &others) {
        V row[sorted_rows::MOST], most = p[0], off;
        const V one = spread<V>(ONE);
        top = V{};
        for (std::size_t c = 0; c < k; ++c) {
            const double index = double(c);
            row[c] = p[c];
            top = where_less(most, p[c], spread<V>(index), top);
            most = greatest(p[c], most);
        }
        sorted_rows::sort(row, k);
        others = k > 1 ? sorted_rows::sum(row, k - 1) : V{};
        off = (least(most, one) + others) - one;
        top = where_less(spread<V>(OF_16_BITS), greatest(off, V{} - off), spread<V>(NOWHERE), top);
        top = where_less(spread<V>(HALF), most, top, spread<V>(NOWHERE));
    }
    template <class V>
    UQASSAY_INLINE static void bound(const V &p, const V &share, V &lowest, V &highest) {
        const V away = where_less(V{}, share, V{}, spread<V>(TWO));  // members of share 0 bound nothing
        lowest = least(p + away, lowest);
        highest = greatest(p - away, highest);
    }
    template <class V>
    UQASSAY_INLINE static V apart(const V &lowest, const V &highest) {
        return where_less(spread<V>(ROUNDING) * highest, highest - lowest, spread<V>(ONE), V{});
    }
};

struct MinusPLogP {
    template <class V>
    UQASSAY_INLINE static void run(const double *probs, std::size_t n, double *out) {
        constexpr std::size_t L = lanes::width<V>;
        V p{};
        for (std::size_t i = 0; i < n; i += L) {
            const std::size_t bytes = std::min(L, n - i) * sizeof(double);
            std::memcpy(&p, probs + i, bytes);
            const V found = minus_p_log_p(p);
            std::memcpy(out + i, &found, bytes);
        }
    }
};

Out<double, 1> entropy_terms(In<double, 1> probs) {
    const std::size_t n = probs.shape(0);
    auto out = raw<double>(n);
    {
        nb::gil_scoped_release release;
        lanes::run<MinusPLogP>(probs.data(), n, out.get());
    }
    return to_array(std::move(out), n);
}

}  // namespace

void bind_decompositions(nb::module_ &m) {
    define<Means>(m, "member_means", "Σ share · p over members (n, M, K), (n, K).");
    m.def("entropy_terms", &entropy_terms, nb::arg("probs").noconvert(), "|p ln p| of each of n probabilities, 0 for 0.");
    define<LabelWise>(m, "label_wise_sums", "Parts of \"class c or not\": total, aleatoric and epistemic, each (n, K); K ≤ 128.");
    define<Regrets>(m, "member_regrets", "Σ share · (1 − max p), (n, 1), and Σ share · (max p − p), (n, K).");
    define_from_mean<Variances>(m, "member_variances", "Σ share · p (1 − p) and Σ share · (p − p̄)², each (n, K).");
    define_from_mean<Entropies>(m, "member_entropies", "Σ share · p ln p and Σ share · (p ln(p / p̄) − p + p̄), each (n, K).");
    define_from_mean<Divergences>(m, "member_divergences",
                                  "Σ share · (p − p̄) ln(p / p̄), and Σ share where p = 0 < p̄, each (n, K).");
    define_from_mean<Spheres>(m, "member_spheres", "Σ share · (1 − ‖p‖), (n, 1), and of the divergence from p̄, (n, K).");
}
