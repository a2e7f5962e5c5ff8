// Moves of one population of mixtures: the twins of functions in calibration/search.py, bit for bit.
#pragma once

#include "lanes.h"
#include "network.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace mixtures {

// The nearest points of the simplex, (P, M), in place; as many points side by side as a vector has lanes.
struct Project {
    template <class V>
    UQASSAY_INLINE static void run(double *points, std::size_t count, std::size_t m) {
        constexpr int N = lanes::width<V>;
        lanes::Room<V> rows(m);
        V *const row = rows.get();
        double *const numbers = reinterpret_cast<double *>(row);
        for (std::size_t i = 0; i < count; i += N) {
            for (std::size_t l = 0; l < N; ++l)
                for (std::size_t k = 0; k < m; ++k) numbers[k * N + l] = points[std::min(i + l, count - 1) * m + k];
            network::sort<double, N>(numbers, m);
            V sum = row[m - 1], most = sum - lanes::all<V>(1.0);
            for (std::size_t j = 1; j < m; ++j) {
                sum = row[m - 1 - j] + sum;
                most = lanes::greatest((sum - lanes::all<V>(1.0)) / lanes::all<V>(double(j + 1)), most);
            }
            for (std::size_t l = 0; l < N && i + l < count; ++l)
                for (std::size_t k = 0; k < m; ++k) {
                    double &number = points[(i + l) * m + k];
                    const double value = number - most[int(l)];
                    number = value > 0.0 ? value : 0.0;
                }
        }
    }
};

inline void project(double *points, std::size_t count, std::size_t m) { lanes::run<Project>(points, count, m); }

// Least share and width of the range of a move towards one of the best and of one along the difference of two others, and the share
// of the weights that a move changes.
struct Moves {
    const double *toward, *along;
    double share;
};

// A child of every mixture of a population (P, M) in order of value. `drawn` are five random numbers for each, `apart` places from
// one to the next, `changed` (P, M).
inline void children_of(const double *population, std::size_t p, std::size_t m, std::size_t n_best, const Moves &moves,
                        const double *drawn, std::size_t apart, const double *changed, double *children) {
    for (std::size_t i = 0; i < p; ++i) {
        const double *here = population + i * m, *random = drawn + i, *change = changed + i * m;
        const auto other = [&](std::size_t which, std::size_t among) {
            return population + std::size_t(random[which * apart] * double(among)) * m;
        };
        const double *best = other(0, n_best), *one = other(1, p), *two = other(2, p);
        const double to = moves.toward[0] + moves.toward[1] * random[3 * apart];
        const double by = moves.along[0] + moves.along[1] * random[4 * apart];
        double *child = children + i * m;
        for (std::size_t k = 0; k < m; ++k) {
            const double move = (best[k] - here[k]) * to + (one[k] - two[k]) * by;
            child[k] = (change[k] < moves.share ? move : 0.0) + here[k];
        }
    }
    project(children, p, m);
}

// The better of each mixture and its child, and of these the `kept` best in order.
class Survival {
  public:
    void choose(const double *population, const double *values, const double *children, const double *found, std::size_t p,
                std::size_t m, std::size_t kept, double *best, double *least) {
        order_.resize(p);
        value_.resize(p);
        for (std::size_t j = 0; j < p; ++j) value_[j] = found[j] <= values[j] ? found[j] : values[j];
        std::iota(order_.begin(), order_.end(), std::size_t(0));
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return value_[a] < value_[b]; });
        for (std::size_t j = 0; j < kept; ++j) {
            const std::size_t from = order_[j];
            const double *row = (found[from] <= values[from] ? children : population) + from * m;
            std::copy(row, row + m, best + j * m);
            least[j] = value_[from];
        }
    }

  private:
    std::vector<std::size_t> order_;
    std::vector<double> value_;
};

}  // namespace mixtures
