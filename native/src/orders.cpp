// The order of floating-point numbers, as an array of places.
#include "order.h"

namespace {

Out<std::int64_t, 1> ascending_order(In<double, 1> values) {
    const std::size_t n = values.shape(0);
    auto order = raw<std::int64_t>(n);
    {
        nb::gil_scoped_release release;
        std::iota(order.get(), order.get() + n, std::int64_t(0));
        if (n) radix::sort_indices(radix::keys_of(values.data(), n).get(), order.get(), n);
    }
    return to_array(std::move(order), n);
}

}  // namespace

void bind_orders(nb::module_ &m) {
    m.def("ascending_order", &ascending_order, nb::arg("values").noconvert(),
          "Places of float64 values (n,) without nan in ascending order, (n,); equal values keep their order.");
}
