// SHA-256 (FIPS 180-4) of many short rows at a time, side by side in the lanes of vectors.
#include "lanes.h"

#include <cstring>
#include <vector>

namespace {

constexpr int SIDE = 16;  // rows side by side

#if (defined(__GNUC__) || defined(__clang__)) && !defined(UQASSAY_PLAIN_LANES)
typedef std::uint32_t Words __attribute__((vector_size(4 * SIDE)));
#else
struct Words {
    std::uint32_t x[SIDE];
    std::uint32_t &operator[](int i) { return x[i]; }
    std::uint32_t operator[](int i) const { return x[i]; }
};
#define UQASSAY_WORDS_OPERATOR(op)                                            \
    UQASSAY_INLINE Words operator op(const Words &a, const Words &b) {        \
        Words out;                                                            \
        for (int i = 0; i < SIDE; ++i) out.x[i] = a.x[i] op b.x[i];           \
        return out;                                                           \
    }
UQASSAY_WORDS_OPERATOR(+)
UQASSAY_WORDS_OPERATOR(^)
UQASSAY_WORDS_OPERATOR(&)
UQASSAY_WORDS_OPERATOR(|)
#undef UQASSAY_WORDS_OPERATOR
UQASSAY_INLINE Words operator>>(const Words &a, int by) {
    Words out;
    for (int i = 0; i < SIDE; ++i) out.x[i] = a.x[i] >> by;
    return out;
}
UQASSAY_INLINE Words operator<<(const Words &a, int by) {
    Words out;
    for (int i = 0; i < SIDE; ++i) out.x[i] = a.x[i] << by;
    return out;
}
#endif

constexpr std::uint32_t FIRST[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

UQASSAY_INLINE Words every(std::uint32_t value) {
    Words out;
    for (int i = 0; i < SIDE; ++i) out[i] = value;
    return out;
}

UQASSAY_INLINE Words turned(const Words &x, int by) { return (x >> by) | (x << (32 - by)); }

UQASSAY_INLINE std::uint32_t big_endian(const unsigned char *p) {
    return std::uint32_t(p[0]) << 24 | std::uint32_t(p[1]) << 16 | std::uint32_t(p[2]) << 8 | std::uint32_t(p[3]);
}

// One block of 64 bytes of every row.
UQASSAY_INLINE void compress(Words *state, const unsigned char *const *blocks) {
    Words w[16];
    for (int t = 0; t < 16; ++t)
        for (int l = 0; l < SIDE; ++l) w[t][l] = big_endian(blocks[l] + 4 * t);
    Words a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; ++t) {
        if (t >= 16) {
            const Words x = w[(t + 1) & 15], y = w[(t + 14) & 15];
            w[t & 15] = w[t & 15] + (turned(x, 7) ^ turned(x, 18) ^ (x >> 3)) + w[(t + 9) & 15] +
                        (turned(y, 17) ^ turned(y, 19) ^ (y >> 10));
        }
        const Words one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (g ^ (e & (f ^ g))) + every(ROUND[t]) + w[t & 15];
        const Words two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const Words added[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] = state[i] + added[i];
}

UQASSAY_CLONES void digest_rows(const unsigned char *rows, std::size_t n, std::size_t width, unsigned char *digests) {
    const std::size_t whole = width / 64, rest = width % 64, tail = rest < 56 ? 64 : 128;
    std::vector<unsigned char> ends(SIDE * tail);  // the rest of each row, a bit 1, zeros, and its length in bits
    lanes::Room<Words> room(8);
    lanes::Interruptible loop;
    Words *const state = room.get();
    for (std::size_t start = 0; start < n; start += SIDE) {
        const unsigned char *from[SIDE], *last[SIDE];
        std::fill(ends.begin(), ends.end(), static_cast<unsigned char>(0));
        for (std::size_t l = 0; l < SIDE; ++l) {
            from[l] = rows + std::min(start + l, n - 1) * width;
            unsigned char *end = ends.data() + l * tail;
            if (rest) std::memcpy(end, from[l] + 64 * whole, rest);
            end[rest] = 0x80;
            for (std::size_t i = 0; i < 8; ++i) end[tail - 1 - i] = static_cast<unsigned char>(std::uint64_t(width) * 8 >> 8 * i);
            last[l] = end;
        }
        for (int i = 0; i < 8; ++i) state[i] = every(FIRST[i]);
        for (std::size_t b = 0; b < whole; ++b) {
            compress(state, from);
            for (int l = 0; l < SIDE; ++l) from[l] += 64;
        }
        for (std::size_t b = 0; b < tail; b += 64) {
            compress(state, last);
            for (int l = 0; l < SIDE; ++l) last[l] += 64;
        }
        for (std::size_t l = 0; l < SIDE && start + l < n; ++l)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 4; ++j)
                    digests[(start + l) * 32 + 4 * i + j] = static_cast<unsigned char>(state[i][int(l)] >> (24 - 8 * j));
        loop.worked((whole + 2) * 64 * SIDE);
    }
}

Out<std::uint8_t, 2> row_digests(In<std::uint8_t, 2> rows) {
    const std::size_t n = rows.shape(0);
    auto digests = raw<std::uint8_t>(n * 32);
    {
        nb::gil_scoped_release release;
        if (n) digest_rows(rows.data(), n, rows.shape(1), digests.get());
    }
    return lanes::to_matrix(std::move(digests), n, 32);
}

}  // namespace

void bind_digests(nb::module_ &m) {
    m.def("row_digests", &row_digests, nb::arg("rows").noconvert(), "SHA-256 of each row of bytes (n, B), as (n, 32).");
}
