#pragma once

/// Two streams at once: while one waits for a table to tell where its next symbol begins, the other goes on.

#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

using Loop = Fast<true>;

/// Advances both streams in turn, until one of them reaches another item than symbols.
inline void together(Inflation& a, Inflation& b, Met& met_a, Met& met_b) {
    Cursor first(a.bits, a.out), second(b.bits, b.out);
    while (met_a == Met::symbols && met_b == Met::symbols) {
        if (!first.has_margin()) {
            met_a = Met::margin;
        } else if (!second.has_margin()) {
            met_b = Met::margin;
        } else {
            met_a = step<true>(first, a.by_bits, a.far_by_bits);
            met_b = step<true>(second, b.by_bits, b.far_by_bits);
        }
    }
    first.keep(a.bits, a.out);
    second.keep(b.bits, b.out);
}

/// Inflates the rest of a stream after the other one has ended, or without the margin for fast decoding.
inline std::size_t rest(Inflation& s, Met met) {
    return finish<Loop>(s, met == Met::margin ? Met::symbols : met);
}

inline void inflate_two(Chunk& one, Chunk& other) {
    Inflation a(one), b(other);
    Met met_a = open<Loop>(a), met_b = open<Loop>(b);
    while (met_a == Met::symbols && met_b == Met::symbols) {
        together(a, b, met_a, met_b);
        if (met_a == Met::end) met_a = open<Loop>(a);
        if (met_b == Met::end) met_b = open<Loop>(b);
    }
    one.made = rest(a, met_a);
    other.made = rest(b, met_b);
}

/// Inflates chunks in pairs.
inline void inflate_pair(const Chunks& w, std::size_t i) {
    if (i + 1 < w.count)
        inflate_two(w.each[i], w.each[i + 1]);
    else
        w.each[i].made = inflate<Loop>(w.each[i], nullptr);
}

} // namespace

} // namespace assay::kernels
