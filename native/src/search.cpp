// Search for the least error over mixtures, one draw of labels after the other: the twin of the loops of
// calibration/simplex_search.py over generations and rounds of refinement, bit for bit.
#include "evaluator.h"
#include "moves.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace {

using namespace mixtures;

constexpr double NONE = std::numeric_limits<double>::infinity();

// Effort of a search, and the random numbers of all draws.
struct Plan {
    std::size_t m, n_populations, size;         // M, S, and mixtures of a population at the start
    std::vector<std::size_t> sizes, n_best;     // of each generation: mixtures after it, and the best before it
    Moves moves;
    std::size_t n_all;                          // draws of labels that share the random numbers
    const double *numbers;                      // of each generation: 5 for each mixture of all draws, M for each mixture
    std::size_t n_rounds, n_steps;
    double probe, enough;
};

// Random numbers of the refinement of one draw: (rounds, S, 2 n), (rounds, 2, S, n, M) and (rounds, S, n).
struct Steps {
    const double *lengths, *exchanges, *momentum;
};

class Search {
  public:
    Search(const Plan &plan, const Evaluator &rough, const Evaluator &fine)
        : p_(plan), rough_(rough.valuer()), fine_(fine.valuer()), room_(plan.m) {}

    std::size_t evaluations = 0;

    // Minimise for labels (n,) from populations (S, P, M) with values (S, P). The best mixtures (S, M) with their values (S,); true
    // if the first of them has a value below `enough`, with which the search ended.
    bool minimise(const Index *labels, std::size_t row, const double *weights, const double *values, const Steps &steps,
                  double *best, double *least) {
        rough_->take(labels);
        fine_->take(labels);
        if (evolve(row, weights, values, best, least)) return true;
        last_.assign(p_.n_populations * p_.m, 0.0);
        evaluate(*fine_, best, p_.n_populations, least);
        for (std::size_t r = 0; r < p_.n_rounds; ++r) {
            if (settled(best, least)) return true;
            refine(r, steps, best, least);
        }
        return false;
    }

  private:
    void evaluate(Valuer &errors, const double *weights, std::size_t count, double *out) {
        errors.values(weights, count, out);
        for (std::size_t i = 0; i < count; ++i) out[i] = std::isnan(out[i]) ? NONE : out[i];
        evaluations += count;
    }

    // Whether the least value is below `enough`; its mixture then comes first.
    bool settled(double *best, double *least) const {
        const std::size_t at = std::size_t(std::min_element(least, least + p_.n_populations) - least);
        if (!(least[at] < p_.enough)) return false;
        std::copy(best + at * p_.m, best + (at + 1) * p_.m, best);
        least[0] = least[at];
        return true;
    }

    bool evolve(std::size_t row, const double *weights, const double *values, double *best, double *least) {
        const std::size_t m = p_.m, s = p_.n_populations;
        std::size_t size = p_.size;
        here_.assign(weights, weights + s * size * m);
        values_.assign(values, values + s * size);
        const double *numbers = p_.numbers;
        for (std::size_t g = 0; g < p_.sizes.size(); ++g) {
            const std::size_t kept = p_.sizes[g], apart = p_.n_all * s * size;
            children_.resize(s * size * m);
            found_.resize(s * size);
            next_.resize(s * kept * m);
            next_values_.resize(s * kept);
            for (std::size_t i = 0; i < s; ++i) {
                const std::size_t at = (row * s + i) * size;
                for (std::size_t c = 0; c < 3; ++c)
                    for (std::size_t j = at; j < at + size; ++j)
                        if (!(numbers[c * apart + j] >= 0.0 && numbers[c * apart + j] < 1.0))
                            throw std::invalid_argument("random numbers lie in [0, 1)");
                children_of(here_.data() + i * size * m, size, m, p_.n_best[g], p_.moves, numbers + at, apart,
                            numbers + 5 * apart + at * m, children_.data() + i * size * m);
            }
            evaluate(*rough_, children_.data(), s * size, found_.data());
            for (std::size_t i = 0; i < s; ++i)
                survival_.choose(here_.data() + i * size * m, values_.data() + i * size, children_.data() + i * size * m,
                                 found_.data() + i * size, size, m, kept, next_.data() + i * kept * m, next_values_.data() + i * kept);
            here_.swap(next_);
            values_.swap(next_values_);
            numbers += (5 + m) * apart;
            size = kept;
            copy_best(size, best, least);
            if (seems_enough(best, least)) return true;
        }
        if (p_.sizes.empty()) copy_best(size, best, least);
        return false;
    }

    void copy_best(std::size_t size, double *best, double *least) const {
        for (std::size_t i = 0; i < p_.n_populations; ++i) {
            std::copy_n(here_.data() + i * size * p_.m, p_.m, best + i * p_.m);
            least[i] = values_[i * size];
        }
    }

    // Whether the least value is below `enough`, by a rough value and by the other one, which decides.
    bool seems_enough(double *best, double *least) {
        const std::size_t at = std::size_t(std::min_element(least, least + p_.n_populations) - least);
        if (!(least[at] < p_.enough)) return false;
        double value;
        evaluate(*fine_, best + at * p_.m, 1, &value);
        if (!(value < p_.enough)) return false;
        std::copy_n(best + at * p_.m, p_.m, best);
        least[0] = value;
        return true;
    }

    // One round of refinement: exchanges of weight between two members, steps along the gradient, and steps with momentum.
    void refine(std::size_t r, const Steps &steps, double *best, double *least) {
        const std::size_t m = p_.m, s = p_.n_populations, n = p_.n_steps, each = m + n;
        here_.resize(s * each * m);
        values_.resize(s * each);
        children_.resize(s * n * m);
        found_.resize(s * n);
        for (std::size_t i = 0; i < s; ++i) {
            const double *here = best + i * m;
            double *probes = here_.data() + i * each * m;
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t k = 0; k < m; ++k)
                    probes[j * m + k] = here[k] + p_.probe * ((j == k ? 1.0 : 0.0) - here[k]);
            const double *first = steps.exchanges + (r * 2 * s + i) * n * m, *second = first + s * n * m;
            const double *lengths = steps.lengths + (r * s + i) * 2 * n;
            for (std::size_t j = 0; j < n; ++j)
                exchange(here, first + j * m, second + j * m, lengths[j], j % 2 == 0, probes + (m + j) * m);
        }
        evaluate(*fine_, here_.data(), s * each, values_.data());
        for (std::size_t i = 0; i < s; ++i) {
            const double *here = best + i * m, *last = last_.data() + i * m;
            const double *lengths = steps.lengths + (r * s + i) * 2 * n + n, *momentum = steps.momentum + (r * s + i) * n;
            downhill(values_.data() + i * each, least[i]);
            for (std::size_t j = 0; j < n; ++j) {
                double *to = children_.data() + (i * n + j) * m;
                const double with = j % 2 == 0 ? 0.0 : 1.5 * momentum[j];  // half of the gradient steps have no momentum
                for (std::size_t k = 0; k < m; ++k) to[k] = (here[k] + lengths[j] * direction_[k]) + with * last[k];
            }
        }
        project(children_.data(), s * n, m);
        evaluate(*fine_, children_.data(), s * n, found_.data());
        for (std::size_t i = 0; i < s; ++i) {
            double *here = best + i * m, *last = last_.data() + i * m;
            const double *exchanged = values_.data() + i * each + m, *down = found_.data() + i * n;
            const std::size_t e = std::size_t(std::min_element(exchanged, exchanged + n) - exchanged);
            const std::size_t d = std::size_t(std::min_element(down, down + n) - down);
            const bool by_gradient = down[d] < exchanged[e];
            const double value = by_gradient ? down[d] : exchanged[e];
            const double *there = by_gradient ? children_.data() + (i * n + d) * m : here_.data() + (i * each + m + e) * m;
            const bool better = value < least[i];
            for (std::size_t k = 0; k < m; ++k) last[k] = better ? there[k] - here[k] : last[k] / 2;
            if (better) {
                std::copy_n(there, m, here);
                least[i] = value;
            }
        }
    }

    // The giver has the greatest of the first numbers among members with weight, the taker the greatest of the second ones among the
    // others; `to_held`: among those with weight, if there are any.
    void exchange(const double *here, const double *first, const double *second, double amount, bool to_held, double *out) const {
        const std::size_t m = p_.m;
        std::size_t giver = 0, taker = 0;
        double most = -1.0;
        for (std::size_t k = 0; k < m; ++k) {
            const double number = here[k] > 0.0 ? first[k] : 0.0;
            if (number > most) most = number, giver = k;
        }
        most = -2.0;
        for (std::size_t k = 0; k < m; ++k) {
            const double number = k == giver ? -1.0 : second[k] + (to_held && here[k] > 0.0 ? 1.0 : 0.0);
            if (number > most) most = number, taker = k;
        }
        std::copy_n(here, m, out);
        const double given = amount < here[giver] ? amount : here[giver];
        out[giver] = here[giver] - given;
        out[taker] = out[taker] + given;
    }

    // Unit direction of steepest descent from difference quotients towards each member, or 0.
    void downhill(const double *probed, double value) {
        const std::size_t m = p_.m;
        direction_.resize(m);
        for (std::size_t k = 0; k < m; ++k) direction_[k] = (probed[k] - value) / p_.probe;
        const double mean = row_sum(direction_.data(), m) / double(m);
        for (std::size_t k = 0; k < m; ++k) {
            direction_[k] -= mean;
            room_[k] = direction_[k] * direction_[k];
        }
        const double length = std::sqrt(row_sum(room_.data(), m)), by = length < 1e-300 ? 1e-300 : length;
        for (std::size_t k = 0; k < m; ++k) {
            const double component = -direction_[k] / by;
            direction_[k] = std::isfinite(component) ? component : 0.0;
        }
    }

    const Plan &p_;
    const std::unique_ptr<Valuer> rough_, fine_;
    Survival survival_;
    std::vector<double> room_, here_, values_, children_, found_, next_, next_values_, last_, direction_;
};

template <class T>
nb::object to_numpy(std::unique_ptr<T[]> data, std::initializer_list<std::size_t> shape) {
    T *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::c_contig>(pointer, shape, owner));
}

nb::tuple searched(const Evaluator &rough, const Evaluator &fine, In<Index, 2> labels, In<Index, 1> rows, Index n_all,
                   In<double, 4> weights, In<double, 3> values, In<Index, 2> generations, In<double, 1> numbers, In<double, 1> toward,
                   In<double, 1> along, double share, In<double, 4> lengths, In<double, 5> exchanges, In<double, 4> momentum,
                   double probe, double enough) {
    const std::size_t t = weights.shape(0), s = weights.shape(1), p = weights.shape(2), m = weights.shape(3), n = fine.n_instances();
    const std::size_t n_rounds = lengths.shape(1), n_steps = lengths.shape(3) / 2;
    const auto has = [](const auto &array, std::initializer_list<std::size_t> shape) {
        std::size_t axis = 0;
        for (const std::size_t size : shape)
            if (array.shape(axis++) != size) return false;
        return true;
    };
    if (!s || !p || !m || rough.n_instances() != n || rough.n_members() != m || fine.n_members() != m || !has(labels, {t, n}) ||
        !has(rows, {t}) || !has(values, {t, s, p}) || generations.shape(1) != 2 || !has(toward, {2}) || !has(along, {2}) ||
        !has(lengths, {t, n_rounds, s, 2 * n_steps}) || !has(exchanges, {t, n_rounds, 2, s, n_steps * m}) ||
        !has(momentum, {t, n_rounds, s, n_steps}) || (n_rounds && !n_steps))
        throw std::invalid_argument("shapes of mixtures, labels and random numbers do not fit");
    for (std::size_t i = 0; i < t; ++i)
        if (rows.data()[i] < 0 || rows.data()[i] >= n_all) throw std::invalid_argument("a row without random numbers");
    Plan plan{m, s, p, {}, {}, {toward.data(), along.data(), share}, std::size_t(n_all), numbers.data(), n_rounds, n_steps, probe, enough};
    std::size_t size = p, n_numbers = 0;
    for (std::size_t g = 0; g < generations.shape(0); ++g) {
        const Index kept = generations.data()[2 * g], n_best = generations.data()[2 * g + 1];
        if (kept < 1 || std::size_t(kept) > size || n_best < 1 || std::size_t(n_best) > size)
            throw std::invalid_argument("populations do not grow");
        plan.sizes.push_back(std::size_t(kept));
        plan.n_best.push_back(std::size_t(n_best));
        n_numbers += (5 + m) * plan.n_all * s * size;
        size = std::size_t(kept);
    }
    if (numbers.shape(0) != n_numbers) throw std::invalid_argument("random numbers do not fit the generations");
    auto best = raw<double>(t * s * m), least = raw<double>(t * s);
    auto settled = raw<bool>(t);
    std::size_t evaluations = 0;
    {
        nb::gil_scoped_release release;
        Search search(plan, rough, fine);
        for (std::size_t i = 0; i < t; ++i) {
            const std::size_t place = i * n_rounds * s * n_steps;
            const Steps steps{lengths.data() + 2 * place, exchanges.data() + 2 * place * m, momentum.data() + place};
            settled[i] = search.minimise(labels.data() + i * n, std::size_t(rows.data()[i]), weights.data() + i * s * p * m,
                                         values.data() + i * s * p, steps, best.get() + i * s * m, least.get() + i * s);
        }
        evaluations = search.evaluations;
    }
    return nb::make_tuple(to_numpy(std::move(best), {t, s, m}), to_numpy(std::move(least), {t, s}), to_numpy(std::move(settled), {t}),
                          evaluations);
}

}  // namespace

void bind_search(nb::module_ &m) {
    using nb::arg;
    m.def("searched", &searched, arg("rough"), arg("fine"), arg("labels").noconvert(), arg("rows").noconvert(), arg("n_all"),
          arg("weights").noconvert(), arg("values").noconvert(), arg("generations").noconvert(), arg("numbers").noconvert(),
          arg("toward").noconvert(), arg("along").noconvert(), arg("share"), arg("lengths").noconvert(), arg("exchanges").noconvert(),
          arg("momentum").noconvert(), arg("probe"), arg("enough"),
          "Best mixtures (T, S, M) of populations (T, S, P, M) after all generations and refinement, their values, whether a value "
          "below `enough` ended the search, and the number of mixtures evaluated.");
}
