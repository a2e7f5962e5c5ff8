// Upper and lower entropy over boxes of probabilities, {p in the simplex: l ≤ p ≤ u}. The formulas, and why they hold, are in
// src/uqassay/credal/box_entropy.py; sums of a row run in another order here, so results differ in the last digits.
#include "lanes.h"

#include <cmath>
#include <limits>
#include <vector>

namespace {

constexpr double SET_TOLERANCE = 1e-3;
constexpr double PRUNE_SLACK = 1e-12;  // nats: a node that could improve the best value by less is closed
constexpr double EPSILON = std::numeric_limits<double>::epsilon();

inline double phi(double p) { return p > 0.0 ? -p * std::log(p) : 0.0; }

// Four partial sums, because an addition waits for the one before it.
inline double sum(const double *x, std::size_t k) {
    double s[4] = {};
    std::size_t c = 0;
    for (; c + 4 <= k; c += 4)
        for (int j = 0; j < 4; ++j) s[j] += x[c + j];
    for (; c < k; ++c) s[0] += x[c];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// Reachable bounds of one row; false if the row is not a box with a distribution in it.
bool tighten(const double *lower, const double *upper, std::size_t k, double *l, double *u) {
    bool good = k > 0;
    for (std::size_t c = 0; c < k; ++c) {
        const double a = lower[c], b = upper[c];
        // nan fails every comparison
        good &= (a >= -SET_TOLERANCE) & (a <= 1.0 + SET_TOLERANCE) & (b >= -SET_TOLERANCE) & (b <= 1.0 + SET_TOLERANCE);
        l[c] = a > 0.0 ? a : 0.0;
        good &= l[c] - b <= SET_TOLERANCE;
        u[c] = b > l[c] ? b : l[c];
    }
    const double spare = 1.0 - sum(l, k), excess = sum(u, k) - 1.0;
    if (!good || -spare > SET_TOLERANCE || 1.0 - sum(upper, k) > SET_TOLERANCE) return false;
    for (std::size_t c = 0; c < k; ++c) {
        const double top = std::min(u[c], l[c] + std::max(spare, 0.0));
        l[c] = std::min(std::max(l[c], u[c] - std::max(excess, 0.0)), top);
        u[c] = top;
    }
    return true;
}

// -- upper entropy: p = clip(s, l, u) with the level s at which it sums to 1 ---------------------------------------------

struct BoxUpper {
    template <class V>
    UQASSAY_INLINE static void run(const double *lower, const double *upper, std::size_t n, std::size_t k, double *values,
                                   std::size_t *wrong) {
        constexpr std::size_t L = lanes::width<V>;
        lanes::Room<V> l_room(k), u_room(k);
        V *l = l_room.get(), *u = u_room.get();
        std::vector<double> row_l(k), row_u(k);
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            for (std::size_t i = 0; i < L; ++i) {
                const std::size_t at = (row + std::min(i, count - 1)) * k;
                *wrong += !tighten(lower + at, upper + at, k, row_l.data(), row_u.data());
                for (std::size_t c = 0; c < k; ++c) l[c][i] = row_l[c], u[c][i] = row_u[c];
            }
            if (*wrong) return;
            const V level = water_level(l, u, k);
            for (std::size_t i = 0; i < count; ++i) {
                const double s = level[i];
                double rest = 0.0, at_level = 0.0;
                for (std::size_t c = 0; c < k; ++c) {
                    const double p = std::min(std::max(s, l[c][i]), u[c][i]);
                    if (p == s)
                        at_level += 1.0;
                    else
                        rest += phi(p);
                }
                values[row + i] = std::fabs(rest + at_level * phi(s));
            }
        }
    }

    // Newton's method on the sum, which is piecewise linear and rises with s; bisection where a step leaves the bracket. A
    // lane that has arrived stays where it is.
    template <class V>
    UQASSAY_INLINE static V water_level(const V *l, const V *u, std::size_t k) {
        constexpr int L = lanes::width<V>;
        V s = lanes::all<V>(1.0 / double(k)), low = lanes::all<V>(0.0), high = lanes::all<V>(1.0);
        bool done[L] = {};
        for (int step = 0; step < 200; ++step) {
            V total = lanes::all<V>(0.0), free = lanes::all<V>(0.0);
            for (std::size_t c = 0; c < k; ++c) {
                const V p = lanes::least(lanes::greatest(l[c], s), u[c]);
                total = total + p;
                free = free + lanes::one_where_equal(p, s);
            }
            bool all_done = true;
            for (int i = 0; i < L; ++i) {
                if (done[i]) continue;
                const double missing = 1.0 - total[i], at = s[i];
                double next = free[i] > 0.0 ? at + missing / free[i] : -1.0;
                if (std::fabs(missing) <= 4.0 * EPSILON) {  // the last step is exact on its piece
                    if (next >= low[i] && next <= high[i]) s[i] = next;
                    done[i] = true;
                    continue;
                }
                if (missing > 0.0)
                    low[i] = at;
                else
                    high[i] = at;
                if (!(next > low[i] && next < high[i])) next = 0.5 * (low[i] + high[i]);
                done[i] = next == at;
                s[i] = next;
                all_done = all_done && done[i];
            }
            if (all_done) break;
        }
        return s;
    }
};

// -- lower entropy: branch and bound, depth first -------------------------------------------------------------------------

// Boxes that wait, newest last; the chords of −p ln p and their order come along, because a branch changes few of them.
class Search {
  public:
    explicit Search(std::size_t k) : k_(k), now_(k), order_(k), below_(k), above_(k), is_changed_(k) {}

    double least_entropy(const double *lower, const double *upper, std::int64_t *steps) {
        for (std::size_t c = 0; c < k_; ++c) {
            now_.l[c] = lower[c], now_.u[c] = upper[c];
            now_.phi_l[c] = phi(lower[c]), now_.phi_u[c] = phi(upper[c]);
            set_slope(now_, c);
            now_.order[c] = int(c);
        }
        std::sort(now_.order.begin(), now_.order.end(), Ascending{now_.slope.data()});
        best_ = std::numeric_limits<double>::infinity();
        steps_ = n_open_ = 0;
        relax(now_);
        bool more = now_.bound < best_ - PRUNE_SLACK;
        while (more) {
            branch();
            while ((more = n_open_ > 0) && !(open_[n_open_ - 1].bound < best_ - PRUNE_SLACK)) --n_open_;
            if (more) std::swap(now_, open_[--n_open_]);
        }
        *steps = steps_;
        return std::fabs(best_);
    }

  private:
    struct Node {
        explicit Node(std::size_t k) : l(k), u(k), phi_l(k), phi_u(k), slope(k), order(k) {}
        std::vector<double> l, u, phi_l, phi_u, slope;
        std::vector<int> order;  // classes by ascending slope, equal ones by number
        std::size_t split = 0;
        double bound = 0.0, at = 0.0, phi_at = 0.0;  // of the relaxation
    };

    struct Ascending {
        const double *slope;
        bool operator()(int a, int b) const { return slope[a] < slope[b] || (slope[a] == slope[b] && a < b); }
    };

    static void set_slope(Node &node, std::size_t c) {
        const double width = node.u[c] - node.l[c];
        node.slope[c] = width > 0.0 ? (node.phi_u[c] - node.phi_l[c]) / width : 0.0;
    }

    // Knapsack over the chords: finds a lower bound, improves the best value, and finds the class to split and its value.
    void relax(Node &x) {
        ++steps_;
        loop_.worked(8 * k_);
        const double mass = 1.0 - sum(x.l.data(), k_);
        double base = sum(x.phi_l.data(), k_), filled = 0.0;
        std::size_t i = 0;
        for (; i + 1 < k_; ++i) {
            const int c = x.order[i];
            const double after = filled + (x.u[c] - x.l[c]);
            if (!(after < mass)) break;
            filled = after;
            base += x.phi_u[c] - x.phi_l[c];
        }
        x.split = std::size_t(x.order[i]);
        const double part = std::min(std::max(mass - filled, 0.0), x.u[x.split] - x.l[x.split]);
        x.at = x.l[x.split] + part;
        x.phi_at = phi(x.at);
        x.bound = base + x.slope[x.split] * part;
        best_ = std::min(best_, base - x.phi_l[x.split] + x.phi_at);
    }

    // Children p_f ≤ v and p_f ≥ v. Classes with bounds below (above) those of f get the same bound, by the order argument; of
    // classes with equal bounds the number decides.
    void branch() {
        const std::size_t f = now_.split, first = n_open_;
        const double rounding = EPSILON * double(k_), l_f = now_.l[f], u_f = now_.u[f], v = now_.at;
        std::size_t sizes[2] = {0, 0};
        for (std::size_t c = 0; c < k_; ++c) {
            const double l = now_.l[c], u = now_.u[c];
            const bool alike = (l == l_f) & (u == u_f);
            below_[sizes[0]] = above_[sizes[1]] = int(c);
            sizes[0] += (l_f >= l) & (u_f >= u) & (!alike | (c >= f)) & (u > v);
            sizes[1] += (l_f <= l) & (u_f <= u) & (!alike | (c <= f)) & (l < v);
        }
        for (const bool down : {true, false}) {
            std::vector<int> &changed = down ? below_ : above_;
            const std::size_t n_changed = sizes[down ? 0 : 1];
            const double *const bounds = (down ? now_.u : now_.l).data();
            double moved = 0.0;
            for (std::size_t j = 0; j < n_changed; ++j) moved += bounds[changed[j]] - v;
            const double total = sum(bounds, k_) - moved;
            if (down ? total < 1.0 - rounding : total > 1.0 + rounding) continue;
            if (n_open_ == open_.size()) open_.emplace_back(k_);
            Node &child = open_[n_open_++];
            child = now_;
            for (std::size_t j = 0; j < n_changed; ++j) {
                const int c = changed[j];
                (down ? child.u : child.l)[c] = v;
                (down ? child.phi_u : child.phi_l)[c] = now_.phi_at;
                set_slope(child, c);
            }
            sort_again(child, changed.data(), n_changed);
            relax(child);
            if (!(child.bound < best_ - PRUNE_SLACK)) --n_open_;
        }
        // the more promising child next
        if (n_open_ - first == 2 && open_[first].bound < open_[first + 1].bound) std::swap(open_[first], open_[first + 1]);
    }

    // The unchanged classes are in order already.
    void sort_again(Node &child, int *changed, std::size_t n_changed) {
        if (n_changed == 0) return;
        const Ascending before{child.slope.data()};
        for (std::size_t j = 0; j < n_changed; ++j) is_changed_[changed[j]] = 1;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < k_; ++i) {
            const int c = child.order[i];
            order_[kept] = c;
            kept += !is_changed_[c];
        }
        for (std::size_t j = 0; j < n_changed; ++j) is_changed_[changed[j]] = 0;
        std::sort(changed, changed + n_changed, before);
        std::merge(order_.begin(), order_.begin() + kept, changed, changed + n_changed, child.order.begin(),
                   before);
    }

    const std::size_t k_;
    Node now_;
    std::vector<Node> open_;
    std::size_t n_open_ = 0;
    std::int64_t steps_ = 0;
    lanes::Interruptible loop_;
    std::vector<int> order_, below_, above_;  // of one step: classes by slope, and those that change
    std::vector<char> is_changed_;
    double best_ = 0.0;
};

void check(std::size_t n, std::size_t k, std::size_t other_n, std::size_t other_k) {
    if (n != other_n || k != other_k) throw nb::value_error("needs two bounds of one shape (n, K)");
}

nb::object box_upper_entropy(In<double, 2> lower, In<double, 2> upper) {
    const std::size_t n = lower.shape(0), k = lower.shape(1);
    check(n, k, upper.shape(0), upper.shape(1));
    auto values = raw<double>(n);
    std::size_t wrong = 0;
    {
        nb::gil_scoped_release release;
        lanes::run<BoxUpper>(lower.data(), upper.data(), n, k, values.get(), &wrong);
    }
    return wrong ? nb::object(nb::none()) : nb::cast(to_array(std::move(values), n));
}

nb::object box_lower_entropy(In<double, 2> lower, In<double, 2> upper) {
    const std::size_t n = lower.shape(0), k = lower.shape(1);
    check(n, k, upper.shape(0), upper.shape(1));
    auto values = raw<double>(n);
    auto steps = raw<std::int64_t>(n);
    bool good = true;
    {
        nb::gil_scoped_release release;
        Search search(k);
        std::vector<double> l(k), u(k);
        for (std::size_t i = 0; good && i < n; ++i) {
            good = tighten(lower.data() + i * k, upper.data() + i * k, k, l.data(), u.data());
            if (good) values[i] = search.least_entropy(l.data(), u.data(), &steps[i]);
        }
    }
    if (!good) return nb::none();
    return nb::make_tuple(to_array(std::move(values), n), to_array(std::move(steps), n));
}

}  // namespace

void bind_box_entropy(nb::module_ &m) {
    m.def("box_upper_entropy", &box_upper_entropy, nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
          "Largest entropy (n,) over boxes (n, K); None if a row is not a box with a distribution in it.");
    m.def("box_lower_entropy", &box_lower_entropy, nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
          "Smallest entropy (n,) over boxes (n, K) and the number of nodes (n,); None if a row is not such a box.");
}
