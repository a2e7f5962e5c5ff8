// The simplex method on many small, dense linear programs: see src/uqassay/credal/tableaux.py, whose steps and bits these are.
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

using Index = std::int64_t;

constexpr double REDUCED_COST = 1e-11, PIVOT = 1e-12, SLACK = 1e-12;  // those of tableaux.py

struct Program {
    std::size_t rows, columns;  // constraints R and nonbasic variables C; the table has one row and one column more
    const bool *allowed;
    Index n_variables, errors_from;  // −1: errors must stay at zero
};

// The column that enters the basis, or C where none gains.
UQASSAY_INLINE std::size_t entering_column(const Program &p, const double *costs, const Index *nonbasic, bool bland) {
    std::size_t found = p.columns;
    double least = -REDUCED_COST;
    Index first = p.n_variables;
    for (std::size_t j = 0; j < p.columns; ++j) {
        if (!p.allowed[nonbasic[j]]) continue;
        const bool error = p.errors_from >= 0 && nonbasic[j] >= p.errors_from;
        const double d = error ? std::min(costs[j], 2.0 - costs[j]) : costs[j];
        if (!(bland ? d < -REDUCED_COST && nonbasic[j] < first : d < least)) continue;
        found = j;
        least = d;
        first = nonbasic[j];
    }
    return found;
}

// The constraint whose variable leaves the basis, or R where none limits the step.
UQASSAY_INLINE std::size_t leaving_row(const Program &p, const double *amount, const double *right, const Index *basic, bool bland) {
    const auto limits = [&](std::size_t r) {
        return amount[r] > PIVOT || (p.errors_from < 0 && !p.allowed[basic[r]] && std::fabs(amount[r]) > PIVOT);
    };
    double furthest = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < p.rows; ++r)
        if (limits(r)) furthest = std::min(furthest, (right[r] + (bland ? 0.0 : SLACK)) / std::fabs(amount[r]));
    std::size_t found = p.rows;
    for (std::size_t r = 0; r < p.rows; ++r) {
        if (!limits(r) || !(right[r] / std::fabs(amount[r]) <= furthest)) continue;
        const bool better = found == p.rows || (bland ? basic[r] < basic[found] : std::fabs(amount[r]) > std::fabs(amount[found]));
        if (better) found = r;
    }
    return found;
}

UQASSAY_CLONES void solve(const Program &p, double *table, Index *basic, Index *nonbasic, double *sign, double *buffer) {
    const std::size_t width = p.columns + 1, patience = 4 * (p.rows + 1 + width);
    double *costs = table + p.rows * width, *amount = buffer, *right = amount + p.rows + 1, *pivot_row = right + p.rows;
    for (std::size_t n_pivots = 0; n_pivots < 40 * patience; ++n_pivots) {
        const bool bland = n_pivots >= patience;
        const std::size_t enter = entering_column(p, costs, nonbasic, bland);
        if (enter == p.columns) return;
        if (p.errors_from >= 0 && nonbasic[enter] >= p.errors_from && costs[enter] > 1.0) {  // the error of the other sign
            for (std::size_t r = 0; r <= p.rows; ++r) table[r * width + enter] *= -1.0;
            costs[enter] += 2.0;
            sign[nonbasic[enter] - p.errors_from] *= -1.0;
        }
        for (std::size_t r = 0; r <= p.rows; ++r) amount[r] = table[r * width + enter];
        for (std::size_t r = 0; r < p.rows; ++r) right[r] = std::max(table[r * width + p.columns], 0.0);
        const std::size_t leave = leaving_row(p, amount, right, basic, bland);
        if (leave == p.rows) {  // no pivot above rounding, so the gain is rounding as well
            costs[enter] = 0.0;
            continue;
        }
        double *row = table + leave * width;
        row[p.columns] = right[leave];
        for (std::size_t r = 0; r <= p.rows; ++r) table[r * width + enter] = 0.0;  // becomes the column of the leaving variable
        row[enter] = 1.0;
        for (std::size_t j = 0; j < width; ++j) pivot_row[j] = row[j] / amount[leave];
        for (std::size_t r = 0; r <= p.rows; ++r) {
            double *other = table + r * width;
            const double factor = amount[r];
            for (std::size_t j = 0; j < width; ++j) other[j] -= factor * pivot_row[j];
        }
        std::memcpy(row, pivot_row, width * sizeof(double));
        std::swap(basic[leave], nonbasic[enter]);
    }
}

template <class T, std::size_t Axes>
std::unique_ptr<T[]> copy_of(const In<T, Axes> &given) {
    auto data = raw<T>(given.size());
    std::copy_n(given.data(), given.size(), data.get());
    return data;
}

template <class T>
nb::capsule owner_of(T *data) {
    return nb::capsule(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
}

template <class T>
Out<T, 2> to_rows(std::unique_ptr<T[]> data, std::size_t n, std::size_t width) {
    T *pointer = data.release();
    return Out<T, 2>(pointer, {n, width}, owner_of(pointer));
}

nb::tuple solved_tableaux(In<double, 3> table, In<Index, 2> basic, In<Index, 2> nonbasic, In<double, 2> sign, In<bool, 1> allowed,
                          Index errors_from) {
    const std::size_t n = table.shape(0), rows = basic.shape(1), columns = nonbasic.shape(1), k = sign.shape(1);
    const Index n_variables = Index(allowed.shape(0));
    if (table.shape(1) != rows + 1 || table.shape(2) != columns + 1 || basic.shape(0) != n || nonbasic.shape(0) != n ||
        sign.shape(0) != n || (errors_from >= 0 && errors_from + Index(k) != n_variables))
        throw std::invalid_argument("the parts of the tableaux do not fit");
    const auto known = [&](Index v) { return v >= 0 && v < n_variables; };
    if (!std::all_of(basic.data(), basic.data() + basic.size(), known) ||
        !std::all_of(nonbasic.data(), nonbasic.data() + nonbasic.size(), known))
        throw std::invalid_argument("a variable has no number");
    auto t = copy_of<double, 3>(table), s = copy_of<double, 2>(sign);
    auto b = copy_of<Index, 2>(basic), o = copy_of<Index, 2>(nonbasic);
    {
        nb::gil_scoped_release release;
        const Program program{rows, columns, allowed.data(), n_variables, errors_from};
        std::vector<double> buffer(2 * rows + columns + 2);
        for (std::size_t i = 0; i < n; ++i)
            solve(program, t.get() + i * (rows + 1) * (columns + 1), b.get() + i * rows, o.get() + i * columns, s.get() + i * k,
                  buffer.data());
    }
    double *pointer = t.release();
    return nb::make_tuple(Out<double, 3>(pointer, {n, rows + 1, columns + 1}, owner_of(pointer)), to_rows(std::move(b), n, rows),
                          to_rows(std::move(o), n, columns), to_rows(std::move(s), n, k));
}

}  // namespace

void bind_pivots(nb::module_ &m) {
    using nb::arg;
    m.def("solved_tableaux", &solved_tableaux, arg("table").noconvert(), arg("basic").noconvert(), arg("nonbasic").noconvert(),
          arg("sign").noconvert(), arg("allowed").noconvert(), arg("errors_from"),
          "Tables (n, R + 1, C + 1), basic and nonbasic variables and signs of errors at the optimum.");
}
