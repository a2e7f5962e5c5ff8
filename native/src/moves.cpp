// Moves of populations of mixtures: the twins of the functions of the same names in calibration/simplex_search.py, bit for bit.
#include "predicted.h"

#include <cmath>
#include <numeric>

namespace {

using mixtures::Index;

Out<double, 3> to_populations(std::unique_ptr<double[]> data, std::size_t t, std::size_t p, std::size_t m) {
    double *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<double *>(p); });
    return Out<double, 3>(pointer, {t, p, m}, owner);
}

// The nearest point of the simplex, in place. `room` has as many numbers.
void project(double *point, std::size_t m, double *room) {
    std::copy(point, point + m, room);
    if (m <= 32) {
        for (std::size_t i = 1; i < m; ++i) {
            const double value = room[i];
            std::size_t j = i;
            for (; j && room[j - 1] < value; --j) room[j] = room[j - 1];
            room[j] = value;
        }
    } else {
        std::sort(room, room + m, [](double a, double b) { return a > b; });
    }
    double sum = room[0], most = sum - 1.0;
    for (std::size_t j = 1; j < m; ++j) {
        sum += room[j];
        const double excess = (sum - 1.0) / double(j + 1);
        most = excess > most ? excess : most;
    }
    for (std::size_t k = 0; k < m; ++k) {
        const double value = point[k] - most;
        point[k] = value > 0.0 ? value : 0.0;
    }
}

// Rows (R, M) moved to the simplex.
Out<double, 3> onto_simplex(In<double, 3> points) {
    const std::size_t t = points.shape(0), p = points.shape(1), m = points.shape(2);
    if (!m) throw std::invalid_argument("a point needs coordinates");
    auto out = raw<double>(points.size());
    {
        nb::gil_scoped_release release;
        std::vector<double> room(m);
        std::copy(points.data(), points.data() + points.size(), out.get());
        for (std::size_t i = 0; i < t * p; ++i) project(out.get() + i * m, m, room.data());
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
        std::vector<double> room(m);
        for (std::size_t i = 0; i < t * p; ++i) {
            const double *population = weights.data() + i / p * p * m, *here = weights.data() + i * m;
            const double *random = drawn.data() + i;
            const auto other = [&](std::size_t which, std::size_t among) {
                return population + std::size_t(random[which * t * p] * double(among)) * m;
            };
            const double *best = other(0, std::size_t(n_best)), *one = other(1, p), *two = other(2, p);
            const double to = toward.data()[0] + toward.data()[1] * random[3 * t * p];
            const double by = along.data()[0] + along.data()[1] * random[4 * t * p];
            const double *change = changed.data() + i * m;
            double *child = out.get() + i * m;
            for (std::size_t k = 0; k < m; ++k) {
                const double move = (best[k] - here[k]) * to + (one[k] - two[k]) * by;
                child[k] = (change[k] < share ? move : 0.0) + here[k];
            }
            project(child, m, room.data());
        }
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
        std::vector<std::size_t> order(p);
        std::vector<double> value(p);
        for (std::size_t i = 0; i < t; ++i) {
            const double *old = values.data() + i * p, *young = found.data() + i * p;
            for (std::size_t j = 0; j < p; ++j) value[j] = young[j] <= old[j] ? young[j] : old[j];
            std::iota(order.begin(), order.end(), std::size_t(0));
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value[a] < value[b]; });
            for (std::size_t j = 0; j < kept; ++j) {
                const std::size_t from = order[j];
                const double *row = (young[from] <= old[from] ? children.data() : weights.data()) + (i * p + from) * m;
                std::copy(row, row + m, best.get() + (i * kept + j) * m);
                least[i * kept + j] = value[from];
            }
        }
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
