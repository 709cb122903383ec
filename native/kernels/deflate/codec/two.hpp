#pragma once

/// Two streams at once: while one waits for a table entry, which determines where its next symbol begins, the
/// other continues.

#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

using Loop = Fast<true>;

/// Advance both streams in turn, until the next item of one of them is not a block of symbols.
inline void together(Inflation& a, Inflation& b, NextItem& met_a, NextItem& met_b) {
    Cursor first(a.bits, a.out), second(b.bits, b.out);
    while (met_a == NextItem::symbols && met_b == NextItem::symbols) {
        if (!first.has_margin()) {
            met_a = NextItem::margin;
        } else if (!second.has_margin()) {
            met_b = NextItem::margin;
        } else {
            met_a = step<true>(first, a.by_bits, a.far_by_bits);
            met_b = step<true>(second, b.by_bits, b.far_by_bits);
        }
    }
    first.keep(a.bits, a.out);
    second.keep(b.bits, b.out);
}

/// Inflate the rest of a stream after the other one has ended, or without the margin for fast decoding.
inline std::size_t rest(Inflation& s, NextItem met) {
    return finish<Loop>(s, met == NextItem::margin ? NextItem::symbols : met);
}

inline void inflate_two(Chunk& one, Chunk& other) {
    Inflation a(one), b(other);
    NextItem met_a = open<Loop>(a), met_b = open<Loop>(b);
    while (met_a == NextItem::symbols && met_b == NextItem::symbols) {
        together(a, b, met_a, met_b);
        if (met_a == NextItem::end) met_a = open<Loop>(a);
        if (met_b == NextItem::end) met_b = open<Loop>(b);
    }
    one.made = rest(a, met_a);
    other.made = rest(b, met_b);
}

/// Inflate chunks in pairs.
inline void inflate_pair(const Chunks& w, std::size_t i) {
    if (i + 1 < w.count)
        inflate_two(w.each[i], w.each[i + 1]);
    else
        w.each[i].made = inflate<Loop>(w.each[i], nullptr);
}

} // namespace

} // namespace assay::kernels
