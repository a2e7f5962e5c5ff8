// Moves of populations of mixtures: the twins of the functions of the same names in calibration/mixture_populations.py, bit for bit.
#include "moves.h"
#include "predicted.h"

namespace {

using mixtures::Index;

Out<double, 3> to_populations(std::unique_ptr<double[]> data, std::size_t t, std::size_t p, std::size_t m) {
    double *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<double *>(p); });
    return Out<double, 3>(pointer, {t, p, m}, owner);
}

// Rows (R, M) moved to the simplex.
Out<double, 3> onto_simplex(In<double, 3> points) {
    const std::size_t t = points.shape(0), p = points.shape(1), m = points.shape(2);
    if (!m) throw std::invalid_argument("a point needs coordinates");
    auto out = raw<double>(points.size());
    {
        nb::gil_scoped_release release;
        std::copy(points.data(), points.data() + points.size(), out.get());
        mixtures::project(out.get(), t * p, m);
    }
    return to_populations(std::move(out), t, p, m);
}

// A child of every mixture of the populations (T, P, M): towards one of the `n_best` first and along the difference of two others.
// `drawn` (5, T, P) and `changed` (T, P, M) are random numbers; `toward` and `along` are a least share and the width of its range.
Out<double, 3> children_of(In<double, 3> weights, In<double, 3> drawn, In<double, 3> changed, Index n_best, In<double, 1> toward,
                           In<double, 1> along, double share) {
    const std::size_t t = weights.shape(0), p = weights.shape(1), m = weights.shape(2);
    if (!m || drawn.shape(0) != 5 || drawn.shape(1) != t || drawn.shape(2) != p || changed.shape(0) != t || changed.shape(1) != p ||
        changed.shape(2) != m || toward.shape(0) != 2 || along.shape(0) != 2 || n_best < 1 || std::size_t(n_best) > p)
        throw std::invalid_argument("shapes of populations and random numbers do not fit");
    for (std::size_t i = 0; i < 3 * t * p; ++i)
        if (!(drawn.data()[i] >= 0.0 && drawn.data()[i] < 1.0)) throw std::invalid_argument("random numbers lie in [0, 1)");
    auto out = raw<double>(t * p * m);
    {
        nb::gil_scoped_release release;
        const mixtures::Moves moves{toward.data(), along.data(), share};
        for (std::size_t i = 0; i < t; ++i)
            mixtures::children_of(weights.data() + i * p * m, p, m, std::size_t(n_best), moves, drawn.data() + i * p, t * p,
                                  changed.data() + i * p * m, out.get() + i * p * m);
    }
    return to_populations(std::move(out), t, p, m);
}

// The better of each mixture and its child, and of these the `size` best of each population in order: weights (T, size, M) and
// values (T, size, 1).
nb::tuple survivors(In<double, 3> weights, In<double, 2> values, In<double, 3> children, In<double, 2> found, Index size) {
    const std::size_t t = weights.shape(0), p = weights.shape(1), m = weights.shape(2), kept = std::min(std::size_t(size), p);
    if (values.shape(0) != t || values.shape(1) != p || found.shape(0) != t || found.shape(1) != p || children.shape(0) != t ||
        children.shape(1) != p || children.shape(2) != m || size < 1)
        throw std::invalid_argument("shapes of mixtures, children and values do not fit");
    auto best = raw<double>(t * kept * m), least = raw<double>(t * kept);
    {
        nb::gil_scoped_release release;
        mixtures::Survival survival;
        for (std::size_t i = 0; i < t; ++i)
            survival.choose(weights.data() + i * p * m, values.data() + i * p, children.data() + i * p * m, found.data() + i * p, p, m,
                            kept, best.get() + i * kept * m, least.get() + i * kept);
    }
    return nb::make_tuple(to_populations(std::move(best), t, kept, m), to_populations(std::move(least), t, kept, 1));
}

}  // namespace

void bind_moves(nb::module_ &m) {
    using nb::arg;
    m.def("onto_simplex", &onto_simplex, arg("points").noconvert(), "Nearest points (T, P, M) of the simplex.");
    m.def("children_of", &children_of, arg("weights").noconvert(), arg("drawn").noconvert(), arg("changed").noconvert(), arg("n_best"),
          arg("toward").noconvert(), arg("along").noconvert(), arg("share"), "A child of every mixture of populations (T, P, M).");
    m.def("survivors", &survivors, arg("weights").noconvert(), arg("values").noconvert(), arg("children").noconvert(),
          arg("found").noconvert(), arg("size"), "The best of populations (T, P, M) and their children, in order.");
}
