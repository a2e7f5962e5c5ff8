// Sums over the columns for many pairs of rows. Eight lanes add up every eighth column, on every processor and for any number of
// pairs, so that a sum always has the same bits.
#include "lanes.h"

#include <cstring>
#include <stdexcept>

namespace {

constexpr int LANES = 8;
using V = lanes::Vec<LANES>;

constexpr std::size_t COLUMNS = 512;    // at a time, so that some hundred rows stay in the cache
constexpr std::size_t TALL = 4, WIDE = 2;  // rows of either side whose sums stay in registers

UQASSAY_INLINE V load(const double *from) {
    V out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

// The next columns, with zeros behind the last.
UQASSAY_INLINE V load(const double *from, std::size_t left) {
    double padded[LANES] = {};
    std::memcpy(padded, from, left * sizeof(double));
    return load(padded);
}

UQASSAY_INLINE double total(const V &sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <std::size_t R, std::size_t C>
struct Products {
    V sums[R][C];

    UQASSAY_INLINE Products() {
        for (auto &row : sums)
            for (V &one : row) one = lanes::all<V>(0.0);
    }
    UQASSAY_INLINE void add(const V *left, const V *right) {
        for (std::size_t r = 0; r < R; ++r)
            for (std::size_t c = 0; c < C; ++c) sums[r][c] = sums[r][c] + left[r] * right[c];
    }
};

template <std::size_t R, std::size_t C>
UQASSAY_INLINE void add_products(const double *u, const double *v, std::size_t n, std::size_t from, std::size_t to, double *sums,
                                 std::size_t columns) {
    Products<R, C> found;
    V left[R], right[C];
    std::size_t i = from;
    for (; i + LANES <= to; i += LANES) {
        for (std::size_t r = 0; r < R; ++r) left[r] = load(u + r * n + i);
        for (std::size_t c = 0; c < C; ++c) right[c] = load(v + c * n + i);
        found.add(left, right);
    }
    if (i < to) {
        for (std::size_t r = 0; r < R; ++r) left[r] = load(u + r * n + i, to - i);
        for (std::size_t c = 0; c < C; ++c) right[c] = load(v + c * n + i, to - i);
        found.add(left, right);
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t c = 0; c < C; ++c) sums[r * columns + c] += total(found.sums[r][c]);
}

template <std::size_t R>
UQASSAY_INLINE void add_products_of_rows(const double *u, const double *v, std::size_t columns, std::size_t n, std::size_t from,
                                         std::size_t to, double *sums) {
    std::size_t k = 0;
    for (; k + WIDE <= columns; k += WIDE) add_products<R, WIDE>(u, v + k * n, n, from, to, sums + k, columns);
    for (; k < columns; ++k) add_products<R, 1>(u, v + k * n, n, from, to, sums + k, columns);
}

UQASSAY_CLONES void multiply(const double *u, std::size_t rows, const double *v, std::size_t columns, std::size_t n, double *sums) {
    lanes::Interruptible loop;
    for (std::size_t from = 0; from < n; from += COLUMNS) {
        const std::size_t to = std::min(from + COLUMNS, n);
        std::size_t j = 0;
        for (; j + TALL <= rows; j += TALL) {
            add_products_of_rows<TALL>(u + j * n, v, columns, n, from, to, sums + j * columns);
            loop.worked(TALL * columns * (to - from) / LANES);
        }
        for (; j < rows; ++j) add_products_of_rows<1>(u + j * n, v, columns, n, from, to, sums + j * columns);
    }
}

Out<double, 2> row_products(In<double, 2> u, In<double, 2> v) {
    const std::size_t rows = u.shape(0), columns = v.shape(0), n = u.shape(1);
    if (v.shape(1) != n) throw std::invalid_argument("rows of one length");
    auto sums = raw<double>(rows * columns);
    std::fill_n(sums.get(), rows * columns, 0.0);
    {
        nb::gil_scoped_release release;
        multiply(u.data(), rows, v.data(), columns, n, sums.get());
    }
    return lanes::to_matrix(std::move(sums), rows, columns);
}

// Sums of x, xx, xxx of one column of differences, or of x, y, xx, xy, yy, xxx, xxy, xyy, yyy of two.
template <int C>
struct Monomials {
    static constexpr int count = C == 1 ? 3 : 9;
    V sums[count];

    UQASSAY_INLINE Monomials() {
        for (V &one : sums) one = lanes::all<V>(0.0);
    }
    UQASSAY_INLINE void add(const V *d) {
        const V x = d[0], xx = x * x;
        if constexpr (C == 1) {
            sums[0] = sums[0] + x;
            sums[1] = sums[1] + xx;
            sums[2] = sums[2] + xx * x;
        } else {
            const V y = d[1], yy = y * y;
            sums[0] = sums[0] + x;
            sums[1] = sums[1] + y;
            sums[2] = sums[2] + xx;
            sums[3] = sums[3] + x * y;
            sums[4] = sums[4] + yy;
            sums[5] = sums[5] + xx * x;
            sums[6] = sums[6] + xx * y;
            sums[7] = sums[7] + yy * x;
            sums[8] = sums[8] + yy * y;
        }
    }
};

template <int C>
struct Differences {
    const double *values;                // (C, J, n)
    const double *shift;                 // (C, P)
    const std::int64_t *first, *second;  // (P,)
    std::size_t rows, n, pairs;
};

template <int C>
UQASSAY_INLINE void sum_monomials(const Differences<C> &of, double *sums) {
    lanes::Interruptible loop;
    for (std::size_t p = 0; p < of.pairs; ++p) {
        const double *a[C], *b[C];
        V shift[C];
        for (int c = 0; c < C; ++c) {
            a[c] = of.values + (std::size_t(c) * of.rows + std::size_t(of.first[p])) * of.n;
            b[c] = of.values + (std::size_t(c) * of.rows + std::size_t(of.second[p])) * of.n;
            shift[c] = lanes::all<V>(of.shift[std::size_t(c) * of.pairs + p]);
        }
        Monomials<C> found;
        V d[C];
        std::size_t i = 0;
        for (; i + LANES <= of.n; i += LANES) {
            for (int c = 0; c < C; ++c) d[c] = load(a[c] + i) - load(b[c] + i) - shift[c];
            found.add(d);
        }
        if (i < of.n) {
            const std::size_t left = of.n - i;
            for (int c = 0; c < C; ++c) {
                d[c] = load(a[c] + i, left) - load(b[c] + i, left) - shift[c];
                for (std::size_t l = left; l < LANES; ++l) d[c][int(l)] = 0.0;
            }
            found.add(d);
        }
        for (int k = 0; k < Monomials<C>::count; ++k) sums[std::size_t(k) * of.pairs + p] = total(found.sums[k]);
        loop.worked(of.n);
    }
}

UQASSAY_CLONES void sum_monomials_of(const Differences<1> &of, double *sums) { sum_monomials(of, sums); }
UQASSAY_CLONES void sum_monomials_of(const Differences<2> &of, double *sums) { sum_monomials(of, sums); }

template <int C>
Out<double, 2> difference_sums_of(In<double, 3> values, In<double, 2> shift, In<std::int64_t, 1> first,
                                  In<std::int64_t, 1> second) {
    const std::size_t pairs = first.shape(0), rows = values.shape(1);
    auto sums = raw<double>(Monomials<C>::count * pairs);
    {
        nb::gil_scoped_release release;
        sum_monomials_of(Differences<C>{values.data(), shift.data(), first.data(), second.data(), rows, values.shape(2), pairs},
                         sums.get());
    }
    return lanes::to_matrix(std::move(sums), Monomials<C>::count, pairs);
}

Out<double, 2> difference_sums(In<double, 3> values, In<double, 2> shift, In<std::int64_t, 1> first, In<std::int64_t, 1> second) {
    const std::size_t columns = values.shape(0), rows = values.shape(1), pairs = first.shape(0);
    if (columns < 1 || columns > 2) throw std::invalid_argument("one or two columns");
    if (second.shape(0) != pairs || shift.shape(0) != columns || shift.shape(1) != pairs)
        throw std::invalid_argument("two rows and one shift of each column for each pair");
    for (const auto *places : {&first, &second})
        for (std::size_t p = 0; p < pairs; ++p)
            if (std::uint64_t(places->data()[p]) >= rows) throw std::invalid_argument("places of rows");
    return columns == 1 ? difference_sums_of<1>(values, shift, first, second) : difference_sums_of<2>(values, shift, first, second);
}

}  // namespace

void bind_pairs(nb::module_ &m) {
    m.def("row_products", &row_products, nb::arg("u").noconvert(), nb::arg("v").noconvert(),
          "u v' of float64 rows (J, n) and (L, n), (J, L); its bits depend neither on the processor nor on threads.");
    m.def("difference_sums", &difference_sums, nb::arg("values").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("first").noconvert(), nb::arg("second").noconvert(),
          "For values (C, J, n) of one or two columns, shifts (C, P) and rows (P,), (P,): sums over n of the monomials up to degree\n"
          "3 of the differences first - second - shift, ordered x, y, xx, xy, yy, xxx, xxy, xyy, yyy, (3 or 9, P).");
}
