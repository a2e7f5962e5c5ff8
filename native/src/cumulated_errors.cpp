// Cumulated differences of confidence and correctness (Kuiper, Kolmogorov-Smirnov) of blocks of mixtures.
#include "predicted.h"

#include "lanes.h"
#include "network.h"

#include <cstring>
#include <limits>

namespace {

using namespace mixtures;

constexpr std::size_t LONG = 4096;  // instances; more are sorted by radix, one mixture at a time

template <class T>
using Bits = typename radix::KeyOf<T>::type;

// Keys (n + 1, G) of G mixtures, sorted: confidences with the correctness as an additional last bit. No confidence is negative or
// above 2, so the bit that falls off is 0, and keys rise as numbers of type T. The last row differs from all others.
template <class T, int G>
UQASSAY_INLINE void sorted_keys(const T *top, const T *hit, std::size_t n, T *keys, Bits<T> *more) {
    Bits<T> *whole = reinterpret_cast<Bits<T> *>(keys);
    for (std::size_t j = 0; j < n; ++j) {
        Bits<T> key[G];
        std::memcpy(key, top + j * LANES, sizeof key);
        for (int l = 0; l < G; ++l) key[l] = key[l] << 1 | (hit[j * LANES + l] > T(0.5) ? 1 : 0);
        std::memcpy(whole + j * G, key, sizeof key);
    }
    if (n <= LONG) {
        using Key = network::SameOrder<T>;
        network::sort<Key, G>(reinterpret_cast<Key *>(keys), n);
    } else {
        for (int l = 0; l < G; ++l) {
            for (std::size_t i = 0; i < n; ++i) std::memcpy(more + i, keys + i * G + l, sizeof(T));
            const Bits<T> *sorted = radix::plain_sort(more, more + n, n);
            for (std::size_t i = 0; i < n; ++i) std::memcpy(keys + i * G + l, sorted + i, sizeof(T));
        }
    }
    const Bits<T> last = ~Bits<T>(0);
    for (int l = 0; l < G; ++l) std::memcpy(keys + n * G + l, &last, sizeof last);
}

// Confidences and their differences from the correctness, rounded as the confidences, of one row of keys.
template <class T, int G>
UQASSAY_INLINE void read_row(const T *keys, T *value, T *step) {
    Bits<T> key[G];
    std::memcpy(key, keys, sizeof key);
    for (int l = 0; l < G; ++l) {
        const Bits<T> bits = key[l] >> 1;
        std::memcpy(value + l, &bits, sizeof bits);
    }
    for (int l = 0; l < G; ++l) step[l] = value[l] - T(std::int32_t(key[l] & 1));
}

// Greatest and least cumulated difference (G,), at least 0 and at most 0. Nothing is evaluated between equal confidences.
#if defined(UQASSAY_VECTORS) && !defined(UQASSAY_PLAIN_LANES)
template <class T, class V>
UQASSAY_INLINE void extremes(const T *keys, std::size_t n, double *most, double *least) {
    constexpr int N = lanes::width<V>, G = N * int(sizeof(double) / sizeof(T)), H = G / N;
    typedef T Part __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
    alignas(64) T value[G], step[G];
    V sum[H] = {}, high[H] = {}, low[H] = {}, now[H];
    const V none = {};
    const auto wide = [](const T *from) { return __builtin_convertvector(*reinterpret_cast<const Part *>(from), V); };
    read_row<T, G>(keys, value, step);
    for (int h = 0; h < H; ++h) now[h] = wide(value + h * N);
    for (std::size_t j = 0; j < n; ++j) {
        for (int h = 0; h < H; ++h) sum[h] += wide(step + h * N);
        read_row<T, G>(keys + (j + 1) * G, value, step);
        for (int h = 0; h < H; ++h) {
            const V next = wide(value + h * N), shown = next == now[h] ? none : sum[h];
            high[h] = lanes::greatest(shown, high[h]);
            low[h] = lanes::least(shown, low[h]);
            now[h] = next;
        }
    }
    std::memcpy(most, high, sizeof high);
    std::memcpy(least, low, sizeof low);
}
#else
template <class T, class V>
UQASSAY_INLINE void extremes(const T *keys, std::size_t n, double *most, double *least) {
    constexpr int G = lanes::width<V> * int(sizeof(double) / sizeof(T));
    T value[G], step[G], now[G];
    double sum[G] = {};
    for (int l = 0; l < G; ++l) most[l] = least[l] = 0.0;
    read_row<T, G>(keys, now, step);
    for (std::size_t j = 0; j < n; ++j) {
        for (int l = 0; l < G; ++l) sum[l] += double(step[l]);
        read_row<T, G>(keys + (j + 1) * G, value, step);
        for (int l = 0; l < G; ++l) {
            const double shown = value[l] == now[l] ? 0.0 : sum[l];
            most[l] = std::max(most[l], shown);
            least[l] = std::min(least[l], shown);
            now[l] = value[l];
        }
    }
}
#endif

// Greatest and least cumulated difference (LANES,) of confidences and correctness (n, LANES), G mixtures at a time.
struct Cumulated {
    template <class V, class T>
    UQASSAY_INLINE static void run(const T *top, const T *hit, std::size_t n, T *keys, Bits<T> *more, double *most, double *least) {
        constexpr int G = lanes::width<V> * int(sizeof(double) / sizeof(T));
        for (int l = 0; l < LANES; l += G) {
            sorted_keys<T, G>(top + l, hit + l, n, keys, more);
            extremes<T, V>(keys, n, most + l, least + l);
        }
    }
};

template <class T>
void values_of(const T *top, const T *hit, std::size_t n, Form form, Space<T> &space, double *out) {
    space.edges.resize((n + 1) * 64 / sizeof(T));  // a row has 64 bytes at most
    space.more.resize(n > LONG ? 2 * n : 0);
    double most[LANES], least[LANES];
    lanes::run<Cumulated>(top, hit, n, space.edges.data(), space.more.data(), most, least);
    for (int l = 0; l < LANES; ++l) {
        const double found = form == KUIPER ? most[l] - least[l] : std::max(most[l], -least[l]);
        out[l] = found / double(n);
    }
}

}  // namespace

namespace mixtures {

void cumulated_values(const float *top, const float *hit, std::size_t n, Form form, Space<float> &space, double *out) {
    values_of(top, hit, n, form, space, out);
}
void cumulated_values(const double *top, const double *hit, std::size_t n, Form form, Space<double> &space, double *out) {
    values_of(top, hit, n, form, space, out);
}

}  // namespace mixtures
