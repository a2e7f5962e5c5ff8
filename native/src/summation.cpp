// Sums that are independent of the order of the terms, and the rows of one member: the twins of `sum_over_classes` and
// `not_negative` in src/uqassay/predictions, to the last bit.
#include "sorted_rows.h"

namespace {

struct SortedSums {
    template <class V>
    UQASSAY_INLINE static void run(const double *values, std::size_t n, std::size_t k, double *sums) {
        constexpr std::size_t L = lanes::width<V>;
        V x[sorted_rows::MOST];
        for (std::size_t row = 0; row < n; row += L) {
            const std::size_t count = std::min(L, n - row);
            V *to = x;
            envelope::load<V>(values + row * k, k, count, [&to](const V &p) { *to++ = p; });
            sorted_rows::sort(x, k);
            const V total = sorted_rows::sum(x, k);
            for (std::size_t i = 0; i < count; ++i) sums[row + i] = total[i];
        }
    }
};

Out<double, 1> sorted_sums(In<double, 2> values) {
    const std::size_t n = values.shape(0), k = values.shape(1);
    if (k < 1 || k > sorted_rows::MOST) throw nb::value_error("needs rows of 1 to 128 numbers");
    auto sums = raw<double>(n);
    {
        nb::gil_scoped_release release;
        lanes::run<SortedSums>(values.data(), n, k, sums.get());
    }
    return to_array(std::move(sums), n);
}

template <class T>
UQASSAY_INLINE void copy_row(const T *from, std::size_t k, double *to) {
    for (std::size_t c = 0; c < k; ++c) to[c] = double(from[c] < T(0) ? T(0) : from[c]);
}
UQASSAY_CLONES void copy_rows(const float *from, std::int64_t stride, std::size_t n, std::size_t k, double *to) {
    for (std::size_t i = 0; i < n; ++i, from += stride, to += k) copy_row(from, k, to);
}
UQASSAY_CLONES void copy_rows(const double *from, std::int64_t stride, std::size_t n, std::size_t k, double *to) {
    for (std::size_t i = 0; i < n; ++i, from += stride, to += k) copy_row(from, k, to);
}

template <class T>
Out<double, 2> rows_not_negative(nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> rows) {
    const std::size_t n = rows.shape(0), k = rows.shape(1);
    if (k > 1 && rows.stride(1) != 1) throw nb::value_error("needs rows whose numbers are neighbours in memory");
    auto copies = raw<double>(n * k);
    {
        nb::gil_scoped_release release;
        copy_rows(rows.data(), rows.stride(0), n, k, copies.get());
    }
    return lanes::to_matrix(std::move(copies), n, k);
}

}  // namespace

void bind_summation(nb::module_ &m) {
    m.def("rows_not_negative", &rows_not_negative<float>, nb::arg("rows").noconvert());
    m.def("rows_not_negative", &rows_not_negative<double>, nb::arg("rows").noconvert(),
          "Rows (n, K), which may lie apart in memory, next to each other, and 0 for negative numbers.");
    m.def("sorted_sums", &sorted_sums, nb::arg("values").noconvert(),
          "Sum of each row of values (n, K), K ≤ 128, in increasing order.");
}
