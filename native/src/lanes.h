// Several instances side by side in the lanes of a vector: each lane computes what a loop over one instance would, so a result
// depends neither on the width of the vectors nor on the neighbours.
#pragma once

#include "kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// functions of vectors are inlined, so that no call passes one
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpsabi"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace lanes {

#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
template <int N>
struct VectorOf {
    typedef double type __attribute__((vector_size(8 * N)));
};
template <int N>
using Vec = typename VectorOf<N>::type;
#else
template <int N>
struct Vec {
    double x[N];
    double operator[](int i) const { return x[i]; }
    double &operator[](int i) { return x[i]; }
};
#define UQASSAY_LANE_OPERATOR(op)                                                        \
    template <int N>                                                                     \
    UQASSAY_INLINE Vec<N> operator op(const Vec<N> &a, const Vec<N> &b) {                \
        Vec<N> out;                                                                      \
        for (int i = 0; i < N; ++i) out.x[i] = a.x[i] op b.x[i];                         \
        return out;                                                                      \
    }
UQASSAY_LANE_OPERATOR(+)
UQASSAY_LANE_OPERATOR(-)
UQASSAY_LANE_OPERATOR(*)
UQASSAY_LANE_OPERATOR(/)
#undef UQASSAY_LANE_OPERATOR
#endif

template <class V>
constexpr int width = sizeof(V) / sizeof(double);

#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
template <class V>
UQASSAY_INLINE V all(double value) {
    return value - V{};
}
template <class V>
UQASSAY_INLINE V least(const V &a, const V &b) {
    return a < b ? a : b;
}
template <class V>
UQASSAY_INLINE V greatest(const V &a, const V &b) {
    return a > b ? a : b;
}
template <class V>
UQASSAY_INLINE V one_where_equal(const V &a, const V &b) {
    return a == b ? all<V>(1.0) : all<V>(0.0);
}
#else
template <class V>
UQASSAY_INLINE V all(double value) {
    V out;
    for (int i = 0; i < width<V>; ++i) out[i] = value;
    return out;
}
template <class V>
UQASSAY_INLINE V least(const V &a, const V &b) {
    V out;
    for (int i = 0; i < width<V>; ++i) out[i] = a[i] < b[i] ? a[i] : b[i];
    return out;
}
template <class V>
UQASSAY_INLINE V greatest(const V &a, const V &b) {
    V out;
    for (int i = 0; i < width<V>; ++i) out[i] = a[i] > b[i] ? a[i] : b[i];
    return out;
}
template <class V>
UQASSAY_INLINE V one_where_equal(const V &a, const V &b) {
    V out;
    for (int i = 0; i < width<V>; ++i) out[i] = a[i] == b[i] ? 1.0 : 0.0;
    return out;
}
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(UQASSAY_PLAIN_LANES)
#define UQASSAY_WIDE_LANES
#ifndef __clang__  // it holds the operands against the baseline's registers, before it inlines
#define UQASSAY_LANE_ASM
#endif
#endif

// `all` of a number in memory, in one instruction; GCC makes eight of it.
template <class V>
UQASSAY_INLINE V spread(const double &number) {
#ifdef UQASSAY_LANE_ASM
    if constexpr (width<V> >= 4) {
        V out;
        asm("vbroadcastsd %1, %0" : "=v"(out) : "m"(number));
        return out;
    }
#endif
    return all<V>(number);
}

// a + b. AVX-512 has it as a · 1 + b, rounded once as well: Zen compares where it adds, and multiplies elsewhere.
template <class V>
UQASSAY_INLINE V plus(const V &a, const V &b) {
#ifdef UQASSAY_LANE_ASM
    if constexpr (width<V> == 8) {
        V sum = b;
        asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(all<V>(1.0)));
        return sum;
    }
#endif
    return a + b;
}

// The smaller of a and b for `low`, the larger for `high`: three comparisons in place of four. The larger one has the bits in
// which a, b and the smaller one differ.
template <class V>
UQASSAY_INLINE void bound_both(const V &a, const V &b, V &low, V &high) {
    V smaller = least(a, b);
#ifdef UQASSAY_WIDE_LANES
#ifdef UQASSAY_LANE_ASM
    if constexpr (width<V> == 8) {
        V lowest = low;
        asm("vminpd %0, %1, %0\n\tvpternlogq $0x96, %3, %2, %1" : "+v"(lowest), "+v"(smaller) : "v"(a), "v"(b));
        low = lowest;
        high = greatest(smaller, high);
        return;
    }
#endif
    typedef long long Bits __attribute__((vector_size(sizeof(V))));
    low = least(smaller, low);
    high = greatest((V)((Bits)a ^ (Bits)b ^ (Bits)smaller), high);
#else
    low = least(smaller, low);
    high = greatest(greatest(a, b), high);
#endif
}

// Memory for vectors: aligned, not set to zero. The loops never allocate.
template <class V>
class Room {
  public:
    explicit Room(std::size_t size) : memory_(raw<unsigned char>(size * sizeof(V) + 64)) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
        start_ = reinterpret_cast<V *>((address + 63) / 64 * 64);
    }
    V *get() { return start_; }

  private:
    std::unique_ptr<unsigned char[]> memory_;
    V *start_;
};

// Long loops call this with the operations done since the last call: now and then, Ctrl-C is let in.
class Interruptible {
  public:
    void worked(std::size_t operations) {
        done_ += operations;
        if (done_ < std::size_t(1) << 28) return;
        done_ = 0;
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

  private:
    std::size_t done_ = 0;
};

// Sum of the first `rows` entries by halving: the order of `fold_sum` in Python. Overwrites them.
template <class V>
UQASSAY_INLINE V fold(V *values, std::size_t rows) {
    while (rows > 1) {
        const std::size_t half = rows / 2;
        for (std::size_t i = 0; i < half; ++i) values[i] = values[i] + values[half + i];
        if (rows % 2) values[0] = values[0] + values[rows - 1];
        rows = half;
    }
    return values[0];
}

// Widest vectors, in doubles, that kernels use; tests lower it to compare the levels.
inline int &most_lanes() {
    static int most = 8;
    return most;
}

#ifdef UQASSAY_WIDE_LANES
template <class Body, class... Args>
__attribute__((target("avx2"))) void run_4(Args... args) {
    Body::template run<Vec<4>>(args...);
}
template <class Body, class... Args>
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) void run_8(Args... args) {
    Body::template run<Vec<8>>(args...);
}
#endif

// Lanes that this processor has, at most `most_lanes()`.
inline int available() {
#ifdef UQASSAY_WIDE_LANES
    const bool v8 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    const int most = v8 ? 8 : __builtin_cpu_supports("avx2") ? 4 : 2;
    return std::min(most, most_lanes());
#else
    return 2;
#endif
}

// Body::run<V>(args…) with the widest vectors of this processor. `run` and all that it calls must be UQASSAY_INLINE.
template <class Body, class... Args>
void run(Args... args) {
#ifdef UQASSAY_WIDE_LANES
    const int found = available();
    if (found == 8) return run_8<Body>(args...);
    if (found == 4) return run_4<Body>(args...);
#endif
    Body::template run<Vec<2>>(args...);
}

// `Array` of two axes from memory; call it with the GIL.
template <class T>
Out<T, 2> to_matrix(std::unique_ptr<T[]> data, std::size_t rows, std::size_t columns) {
    T *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Out<T, 2>(pointer, {rows, columns}, owner);
}

}  // namespace lanes
