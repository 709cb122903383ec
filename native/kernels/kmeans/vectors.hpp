#pragma once

/// Shared by variants for different processors, so everything here is local to the including file.

// GCC 12 warns about undefined vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "kernels/kmeans/cost.hpp"
#include "kernels/kmeans/work.hpp"

#include <float.h>
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Assignment;
using assay::kernels::Colour;
using assay::kernels::group;
using assay::kernels::groups_of;

struct Avx2 {
    using Floats = __m256;
    using Ints = __m256i;
    static constexpr std::size_t lanes = 8;
    static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(std::int32_t* to, Ints a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a); }
    static void store(float* to, Floats a) { _mm256_storeu_ps(to, a); }
    static Floats all(float a) { return _mm256_set1_ps(a); }
    static Ints all(std::int32_t a) { return _mm256_set1_epi32(a); }
    static Floats minus(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
    static Floats times(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
    static Floats plus_product(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(b, c, a); }
    static Floats minus_product(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(b, c, a); }
    static Floats minimum(Floats a, Floats b) { return _mm256_min_ps(a, b); }
    /// Return `then` where a < b, and `otherwise` elsewhere.
    static Ints where_less(Floats a, Floats b, Ints then, Ints otherwise) {
        const __m256 less = _mm256_cmp_ps(a, b, _CMP_LT_OQ);
        return _mm256_blendv_epi8(otherwise, then, _mm256_castps_si256(less));
    }
    static std::uint32_t equal(Floats a, Floats b) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
    }
};

#ifdef __AVX512F__
struct Avx512 {
    using Floats = __m512;
    using Ints = __m512i;
    static constexpr std::size_t lanes = 16;
    static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(std::int32_t* to, Ints a) { _mm512_storeu_si512(to, a); }
    static void store(float* to, Floats a) { _mm512_storeu_ps(to, a); }
    static Floats all(float a) { return _mm512_set1_ps(a); }
    static Ints all(std::int32_t a) { return _mm512_set1_epi32(a); }
    static Floats minus(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
    static Floats times(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
    static Floats plus_product(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(b, c, a); }
    static Floats minus_product(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(b, c, a); }
    static Floats minimum(Floats a, Floats b) { return _mm512_min_ps(a, b); }
    static Ints where_less(Floats a, Floats b, Ints then, Ints otherwise) {
        return _mm512_mask_mov_epi32(otherwise, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), then);
    }
    static std::uint32_t equal(Floats a, Floats b) {
        return static_cast<std::uint32_t>(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ));
    }
};
#endif

/// The widest vectors of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
typedef Avx512 Simd;
#else
typedef Avx2 Simd;
#endif

/// Number of vectors of points that fit the registers (16 with AVX2, 32 with AVX-512), together with their
/// minima and indices.
constexpr std::size_t vectors_of_points = Simd::lanes == 16 ? 4 : 2;
constexpr std::size_t points_in_registers = vectors_of_points * Simd::lanes;

template <class V>
struct Centre {
    typename V::Floats red, green, blue, half;
};

/// Squared distance, from three differences and their squares.
struct Differences {
    template <class V>
    static typename V::Floats score(typename V::Floats red, typename V::Floats green, typename V::Floats blue,
                                    const Centre<V>& c) {
        const auto r = V::minus(red, c.red), g = V::minus(green, c.green), b = V::minus(blue, c.blue);
        return V::plus_product(V::plus_product(V::times(r, r), g, g), b, b);
    }
};

/// |c|^2 / 2 - p.c, by three fused multiply-adds. Its minimum is at the nearest centre, since |p - c|^2 =
/// |p|^2 + 2 (|c|^2 / 2 - p.c), but digits cancel.
struct Products {
    template <class V>
    static typename V::Floats score(typename V::Floats red, typename V::Floats green, typename V::Floats blue,
                                    const Centre<V>& c) {
        return V::minus_product(V::minus_product(V::minus_product(c.half, red, c.red), green, c.green), blue,
                                c.blue);
    }
};

/// Centres as four arrays: colours, and half of the squared distance to the origin. The padding of the last
/// group is farther from all colours than any centre.
struct Table {
    explicit Table(const Assignment& a)
        : size(group * groups_of(a.k)), red(a.scratch), green(red + size), blue(green + size),
          half(blue + size) {}

    static void fill(const Assignment& a) {
        const Table t(a);
        for (std::size_t i = 0; i < t.size; ++i) {
            const Colour c = i < a.k ? a.centres[i] : Colour{1e15F, 1e15F, 1e15F};
            t.red[i] = c.red;
            t.green[i] = c.green;
            t.blue[i] = c.blue;
            t.half[i] = 0.5F * (c.red * c.red + c.green * c.green + c.blue * c.blue);
        }
    }

    template <class V>
    [[nodiscard]] Centre<V> one(std::size_t i) const {
        return {V::all(red[i]), V::all(green[i]), V::all(blue[i]), V::all(half[i])};
    }

    template <class V>
    [[nodiscard]] Centre<V> some(std::size_t i) const {
        return {V::load(red + i), V::load(green + i), V::load(blue + i), V::load(half + i)};
    }

    std::size_t size;
    float *red, *green, *blue, *half;
};

/// Points that are processed at once. The last block is padded with the last point.
template <class V, std::size_t chains>
struct Block {
    static constexpr std::size_t points = V::lanes * chains;

    Block(const Assignment& a, std::size_t begin)
        : first(begin), count(a.n - begin < points ? a.n - begin : points) {
        for (std::size_t j = 0; j < points; ++j) {
            const Colour& point = a.points[first + (j < count ? j : count - 1)];
            red[j] = point.red;
            green[j] = point.green;
            blue[j] = point.blue;
        }
    }

    std::size_t first, count;
    alignas(64) float red[points], green[points], blue[points];
};

/// Find the nearest centres of one block, with the index updated together with the minimum.
template <class V, std::size_t chains, class Score>
inline void assign(const Assignment& a, std::size_t first) {
    const Table table(a);
    const Block<V, chains> block(a, first);
    typename V::Floats red[chains], green[chains], blue[chains], best[chains];
    typename V::Ints found[chains];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < chains; ++j) {
        red[j] = V::load(block.red + V::lanes * j);
        green[j] = V::load(block.green + V::lanes * j);
        blue[j] = V::load(block.blue + V::lanes * j);
        best[j] = V::all(FLT_MAX);
        found[j] = V::all(std::int32_t{0});
    }
    for (std::size_t i = 0; i < a.k; ++i) {
        const auto centre = table.one<V>(i);
        const auto index = V::all(static_cast<std::int32_t>(i));
#pragma GCC unroll 8
        for (std::size_t j = 0; j < chains; ++j) {
            const auto score = Score::template score<V>(red[j], green[j], blue[j], centre);
            found[j] = V::where_less(score, best[j], index, found[j]);
            best[j] = V::minimum(score, best[j]);
        }
    }
    std::int32_t indices[block.points];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < chains; ++j) V::store(indices + V::lanes * j, found[j]);
    for (std::size_t j = 0; j < block.count; ++j) a.nearest[first + j] = indices[j];
}

/// Find the nearest centres of one block, with only the minimum updated in the inner loop, and its group of
/// centres after each group. The centre is then found by computing the scores of that group again: the same
/// operations on the same values have bitwise the same results.
template <class V, std::size_t chains, class Score>
inline void assign_later(const Assignment& a, std::size_t first) {
    const Table table(a);
    const Block<V, chains> block(a, first);
    typename V::Floats red[chains], green[chains], blue[chains], best[chains];
    typename V::Ints found[chains];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < chains; ++j) {
        red[j] = V::load(block.red + V::lanes * j);
        green[j] = V::load(block.green + V::lanes * j);
        blue[j] = V::load(block.blue + V::lanes * j);
        best[j] = V::all(FLT_MAX);
        found[j] = V::all(std::int32_t{0});
    }
    for (std::size_t i = 0; i < table.size; i += group) {
        typename V::Floats before[chains];
#pragma GCC unroll 8
        for (std::size_t j = 0; j < chains; ++j) before[j] = best[j];
#pragma GCC unroll 4
        for (std::size_t l = i; l < i + group; ++l) {
            const auto centre = table.one<V>(l);
#pragma GCC unroll 8
            for (std::size_t j = 0; j < chains; ++j)
                best[j] = V::minimum(Score::template score<V>(red[j], green[j], blue[j], centre), best[j]);
        }
        const auto index = V::all(static_cast<std::int32_t>(i));
#pragma GCC unroll 8
        for (std::size_t j = 0; j < chains; ++j)
            found[j] = V::where_less(best[j], before[j], index, found[j]);
    }
    float scores[block.points];
    std::int32_t groups[block.points];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < chains; ++j) {
        V::store(scores + V::lanes * j, best[j]);
        V::store(groups + V::lanes * j, found[j]);
    }
    for (std::size_t j = 0; j < block.count; ++j) {
        std::uint32_t equal = 0;
        for (std::size_t l = 0; l < group; l += V::lanes) {
            const auto score =
                Score::template score<V>(V::all(block.red[j]), V::all(block.green[j]), V::all(block.blue[j]),
                                         table.some<V>(static_cast<std::size_t>(groups[j]) + l));
            equal |= V::equal(score, V::all(scores[j])) << l;
        }
        a.nearest[first + j] = groups[j] + __builtin_ctz(equal);
    }
}

template <std::size_t points, void assign_block(const Assignment&, std::size_t)>
void serially(const Assignment& a) {
    Table::fill(a);
    for (std::size_t i = 0; i < a.n; i += points) assign_block(a, i);
}

#ifdef _OPENMP
template <std::size_t points, void assign_block(const Assignment&, std::size_t)>
void side_by_side(const Assignment& a) {
    Table::fill(a);
    const auto blocks = static_cast<std::int64_t>((a.n + points - 1) / points);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < blocks; ++i) assign_block(a, static_cast<std::size_t>(i) * points);
}
#endif

} // namespace
