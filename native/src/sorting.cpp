// Sorting by radix in the input's own dtype.
#include "kernels.h"
#include "radix.h"

#include <cstring>

namespace {

template <class T>
Out<T, 1> radix_sort(In<T, 1> values) {
    const std::size_t n = values.shape(0);
    auto sorted = raw<T>(n);
    {
        nb::gil_scoped_release release;
        using Key = typename radix::KeyOf<T>::type;
        auto keys = raw<Key>(n), other = raw<Key>(n);
        const T *from = values.data();
        for (std::size_t i = 0; i < n; ++i) keys[i] = radix::to_key(from[i]);
        const Key *found = radix::plain_sort(keys.get(), other.get(), n);
        for (std::size_t i = 0; i < n; ++i) sorted[i] = radix::from_key<T>(found[i]);
    }
    return to_array(std::move(sorted), n);
}

}  // namespace

void bind_sorting(nb::module_ &m) {
    nb::module_ yardsticks = m.def_submodule("yardsticks", "What benchmarks compare with; no part of the package calls it.");
    yardsticks.def("radix_sort", &radix_sort<float>, nb::arg("values"));
    yardsticks.def("radix_sort", &radix_sort<double>, nb::arg("values"),
                   "Sorted copy of float32 or float64 values (n,) by the plain radix sort of textbooks.");
}
