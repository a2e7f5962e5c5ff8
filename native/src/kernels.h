// What the kernels share: the functions that bind them, arrays in and out, and code for several processors.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nb = nanobind;

// Raised by one when a kernel changes its arguments or results; `INTERFACE` in src/uqassay/native.py is its twin.
constexpr int UQASSAY_INTERFACE = 1;

void bind_sorting(nb::module_ &m);
void bind_mixture_errors(nb::module_ &m);
void bind_bin_errors(nb::module_ &m);
void bind_concordance(nb::module_ &m);
void bind_envelope(nb::module_ &m);
void bind_moebius(nb::module_ &m);
void bind_pivots(nb::module_ &m);
void bind_prefixes(nb::module_ &m);
void bind_box_entropy(nb::module_ &m);
void bind_decompositions(nb::module_ &m);
void bind_labels(nb::module_ &m);
void bind_orders(nb::module_ &m);
void bind_pairs(nb::module_ &m);
void bind_summation(nb::module_ &m);
void bind_votes(nb::module_ &m);
void bind_yardsticks(nb::module_ &m);

// A function with this attribute is compiled for several processors; the loader picks one. It needs GCC and glibc, and what the
// function calls must be inlined into it (UQASSAY_INLINE). Elsewhere it is compiled for the baseline alone. Tests build each
// processor by itself (UQASSAY_LEVEL, CMake option of this name).
#if defined(UQASSAY_LEVEL)
#define UQASSAY_CLONES __attribute__((target("arch=" UQASSAY_LEVEL)))
#elif defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define UQASSAY_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define UQASSAY_CLONES
#endif
#if defined(_MSC_VER)
#define UQASSAY_INLINE __forceinline
#else
#define UQASSAY_INLINE inline __attribute__((always_inline))
#endif

// A C-contiguous NumPy array that is only read: In<double, 2> has two axes. Bind it as nb::arg("name").noconvert(); then other
// layouts and dtypes are refused with a TypeError and never copied.
template <class T, std::size_t Axes>
using In = nb::ndarray<const T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;

template <class T, std::size_t Axes>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<Axes>, nb::c_contig>;

// Memory that is not set to zero. Large pages save much of the time that the system needs to hand over a large array.
template <class T>
std::unique_ptr<T[]> raw(std::size_t size) {
    std::unique_ptr<T[]> memory(new T[size ? size : 1]);
#if defined(__linux__)
    const std::size_t page = 4096, bytes = size * sizeof(T);
    if (bytes >= (std::size_t(4) << 20)) {
        char *const start = reinterpret_cast<char *>(memory.get());
        char *const whole = start + (page - reinterpret_cast<std::uintptr_t>(start) % page) % page;
        madvise(whole, (bytes - std::size_t(whole - start)) / page * page, MADV_HUGEPAGE);  // a hint, which may fail
    }
#endif
    return memory;
}

// Hand memory over to a new NumPy array of one axis. Call it with the GIL.
template <class T>
Out<T, 1> to_array(std::unique_ptr<T[]> data, std::size_t size) {
    T *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Out<T, 1>(pointer, {size}, owner);
}
