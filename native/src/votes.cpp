// Votes of members for their most probable class.
#include "lanes.h"

namespace {

constexpr std::size_t SIDE = 8;  // classes compared at a time

// Votes (n, K) of members (n, M, K); false if a member has several most probable classes, which share its vote: the formula's case.
template <class T>
UQASSAY_INLINE bool count_votes(const T *probs, std::size_t n, std::size_t m, std::size_t k, double *votes) {
    lanes::Interruptible loop;
    for (std::size_t i = 0; i < n; ++i) {
        double *to = votes + i * k;
        for (std::size_t c = 0; c < k; ++c) to[c] = 0.0;
        for (std::size_t j = 0; j < m; ++j) {
            const T *p = probs + (i * m + j) * k;
            T tops[SIDE];
            for (std::size_t l = 0; l < SIDE; ++l) tops[l] = p[0];
            std::size_t at = 0;
            for (; at + SIDE <= k; at += SIDE)
                for (std::size_t l = 0; l < SIDE; ++l) tops[l] = p[at + l] > tops[l] ? p[at + l] : tops[l];
            T top = tops[0];
            for (std::size_t l = 1; l < SIDE; ++l) top = tops[l] > top ? tops[l] : top;
            for (; at < k; ++at) top = p[at] > top ? p[at] : top;
            std::size_t best = 0;
            for (std::size_t c = 0; c < k; ++c) best += p[c] == top ? 1 : 0;
            if (best != 1) return false;  // also where a probability is nan
            for (std::size_t c = 0; c < k; ++c) to[c] += p[c] == top ? 1.0 : 0.0;
        }
        loop.worked(3 * m * k);
    }
    return true;
}

UQASSAY_CLONES bool count_votes_of(const double *probs, std::size_t n, std::size_t m, std::size_t k, double *votes) {
    return count_votes(probs, n, m, k, votes);
}

UQASSAY_CLONES bool count_votes_of(const float *probs, std::size_t n, std::size_t m, std::size_t k, double *votes) {
    return count_votes(probs, n, m, k, votes);
}

template <class T>
nb::object untied_votes(In<T, 3> probs) {
    const std::size_t n = probs.shape(0), m = probs.shape(1), k = probs.shape(2);
    auto votes = raw<double>(n * k);
    bool untied;
    {
        nb::gil_scoped_release release;
        untied = k > 0 && count_votes_of(probs.data(), n, m, k, votes.get());
    }
    if (!untied) return nb::none();
    return nb::cast(lanes::to_matrix(std::move(votes), n, k));
}

}  // namespace

void bind_votes(nb::module_ &m) {
    m.def("untied_votes", &untied_votes<float>, nb::arg("probs").noconvert());
    m.def("untied_votes", &untied_votes<double>, nb::arg("probs").noconvert(),
          "Number of members (n, M, K) for which each class is the most probable one, (n, K); None if two are in some member.");
}
