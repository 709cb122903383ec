#pragma once

/// A panel: columns of the matrix from the diagonal down, and its update of columns to the right.
///
/// It is stored in strips of rows, the layout of a product's first factor, so that a factored panel is
/// multiplied without a copy.

#include "kernels/lu/layout.hpp"

#include <cfloat>
#include <cstddef>
#include <cstdint>

namespace {

/// Shape for the vectors of a processor: three vectors by as many columns as a vector has elements.
template <class V>
struct Way {
    using Vector = V;
    static constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    using Whole = InRegisters<V, 3, lanes, lanes, true>;
    static constexpr std::size_t rows = Whole::rows;
    /// Shape for a part of a strip: one vector of its rows.
    using Part = InRegisters<V, 1, lanes, lanes, false, rows>;
};

/// A panel. Rows and columns are counted from its first ones; missing rows of the last strip are zero.
template <class W>
struct Panel {
    double* strips;
    std::size_t high, wide;
    std::size_t row;   ///< First row and column in the matrix.
    const Matrix& all; ///< The matrix, with the record of exchanges.
    double* room;      ///< Scratch of the thread, for rows in strips of columns.
    /// Position of each row before the exchanges.
    std::size_t* order;

    [[nodiscard]] Stack from(std::size_t column) const {
        return {strips + column * W::rows, W::rows, W::rows * wide};
    }
    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return from(0).at(i, j); }
    [[nodiscard]] std::int64_t& exchanged(std::size_t j) const { return all.exchanged[row + j]; }
};

template <class W, class Place>
void load(const Panel<W>& panel, const Place& place) {
    for (std::size_t i = 0, high = 0; i < panel.high; i += high) {
        high = minimum(minimum(group<typename W::Whole>, place.run(i)), panel.high - i);
        pack_a<typename W::Whole>(place.at(i, 0), place.down, high, panel.wide,
                                  panel.strips + i * panel.wide);
    }
}

template <class W, class Place>
void store(const Panel<W>& panel, const Place& place) {
    for (std::size_t i = 0; i < panel.high; i += W::rows) {
        const double* const strip = panel.strips + i * panel.wide;
        const std::size_t high = minimum(W::rows, panel.high - i);
        for (std::size_t j = 0; j < panel.wide; ++j)
            for (std::size_t r = 0; r < high; ++r) place.at(i, j)[r] = strip[r + j * W::rows];
    }
}

inline void exchange(double& a, double& b) {
    const double before = a;
    a = b;
    b = before;
}

/// Return the row numbers of a vector that begins at row i.
template <class V>
auto rows_from(std::size_t i) {
    decltype(V{} > V{}) found;
    for (std::size_t l = 0; l < sizeof(V) / sizeof(double); ++l) found[l] = static_cast<std::int64_t>(i + l);
    return found;
}

/// Return the row of the element of column j with the largest absolute value, from the diagonal downwards;
/// the first one if there are several.
template <class W>
std::size_t largest(const Panel<W>& panel, std::size_t j) {
    using V = typename W::Vector;
    V size = V{} - 1.0;
    auto where = rows_from<V>(0);
    const std::size_t first = j / W::lanes * W::lanes;
    auto rows = rows_from<V>(first);
    for (std::size_t i = first; i < panel.high; i += W::lanes, rows += W::lanes) {
        V x;
        __builtin_memcpy(&x, panel.at(i, j), sizeof(V));
        x = x < 0.0 ? -x : x;
        const auto larger = (x > size) & (rows >= static_cast<std::int64_t>(j));
        size = larger ? x : size;
        where = larger ? rows : where;
    }
    std::size_t best = 0;
    for (std::size_t l = 1; l < W::lanes; ++l)
        if (size[l] > size[best] || (size[l] == size[best] && where[l] < where[best])) best = l;
    return static_cast<std::size_t>(where[best]);
}

/// Compute column j of L below the diagonal, and subtract it from the columns to its right, up to `end`.
template <class W>
void eliminate(const Panel<W>& panel, std::size_t j, std::size_t end) {
    using V = typename W::Vector;
    const double pivot = *panel.at(j, j);
    // The reciprocal of the smallest numbers is not finite.
    const bool small = pivot < DBL_MIN && pivot > -DBL_MIN;
    const double factor = small ? 1.0 : 1.0 / pivot, divisor = small ? pivot : 1.0;
    double* const u = panel.room;
    for (std::size_t c = j + 1; c < end; ++c) u[c] = *panel.at(j, c);
    const std::size_t first = (j + 1) / W::lanes * W::lanes;
    auto rows = rows_from<V>(first);
    for (std::size_t i = first; i < panel.high; i += W::lanes, rows += W::lanes) {
        double* const place = panel.at(i, j);
        const auto below = rows > static_cast<std::int64_t>(j);
        V x;
        __builtin_memcpy(&x, place, sizeof(V));
        const V l = below ? (small ? x / divisor : x * factor) : V{};
        x = below ? l : x;
        __builtin_memcpy(place, &x, sizeof(V));
        for (std::size_t c = j + 1; c < end; ++c) {
            double* const right = place + (c - j) * W::rows;
            __builtin_memcpy(&x, right, sizeof(V));
            x -= l * u[c];
            __builtin_memcpy(right, &x, sizeof(V));
        }
    }
}

/// Factor the columns from `first` to `end` one by one.
template <class W>
void by_columns(const Panel<W>& panel, std::size_t first, std::size_t end) {
    for (std::size_t j = first; j < minimum(end, panel.high); ++j) {
        const std::size_t row = largest(panel, j);
        panel.exchanged(j) = static_cast<std::int64_t>(panel.row + row);
        if (row != j)
            for (std::size_t c = 0; c < panel.wide; ++c) exchange(*panel.at(j, c), *panel.at(row, c));
        if (*panel.at(j, j) != 0.0) {
            eliminate(panel, j, end);
        } else {
            const auto column = static_cast<std::int64_t>(panel.row + j);
            if (column < *panel.all.singular) *panel.all.singular = column;
        }
    }
}

/// Compute X = L^-1 X for `strips` strips of columns, where L begins at (first, first) and has `deep` rows.
template <class W, std::size_t strips>
void solve(const Panel<W>& panel, std::size_t first, std::size_t deep, double* x) {
    using V = typename W::Vector;
    for (std::size_t b = 0; b < deep; b += W::lanes) {
        const double* const l = panel.at(first + b, first);
        V sum[strips][W::lanes];
        for (std::size_t s = 0; s < strips; ++s)
            __builtin_memcpy(sum[s], x + (s * deep + b) * W::lanes, sizeof sum[s]);
        for (std::size_t q = 0; q < b; ++q) {
            for (std::size_t s = 0; s < strips; ++s) {
                V above;
                __builtin_memcpy(&above, x + (s * deep + q) * W::lanes, sizeof(V));
#pragma GCC unroll 8
                for (std::size_t r = 0; r < W::lanes; ++r) sum[s][r] -= above * l[r + q * W::rows];
            }
        }
#pragma GCC unroll 8
        for (std::size_t q = 0; q < W::lanes; ++q)
            for (std::size_t s = 0; s < strips; ++s)
#pragma GCC unroll 8
                for (std::size_t r = q + 1; r < W::lanes; ++r)
                    sum[s][r] -= sum[s][q] * l[r + (b + q) * W::rows];
        for (std::size_t s = 0; s < strips; ++s)
            __builtin_memcpy(x + (s * deep + b) * W::lanes, sum[s], sizeof sum[s]);
    }
}

/// Pack the `deep` rows from row `first`, right of the panel's factored columns, into strips of columns in
/// the thread's scratch memory.
template <class W, class Place>
void pack_rows(const Panel<W>& panel, std::size_t first, std::size_t deep, const Place& place,
               std::size_t wide) {
    for (std::size_t q = 0, high = 0; q < deep; q += high) {
        high = minimum(place.run(first + q), deep - q);
        pack_b<typename W::Whole>(place.at(first + q, 0), place.down, high, deep, wide,
                                  panel.room + q * W::lanes);
    }
}

/// Apply the exchanges to columns right of the panel, and pack the rows of the panel's columns into strips.
template <class W, class Place>
void exchange_and_pack(const Panel<W>& panel, const Place& place, std::size_t wide) {
    const std::size_t deep = panel.wide;
    constexpr std::size_t at_once = 64;
    const double* from[at_once];
    for (std::size_t done = 0; done < deep; done += at_once) {
        const std::size_t some = minimum(at_once, deep - done);
        for (std::size_t q = 0; q < some; ++q) from[q] = place.at(panel.order[done + q], 0);
        for (std::size_t s = 0; s < wide; s += W::lanes) {
            double* const to = panel.room + s * deep + done * W::lanes;
            const std::size_t there = minimum(W::lanes, wide - s);
            for (std::size_t q = 0; q < some; ++q)
                for (std::size_t c = 0; c < W::lanes; ++c)
                    to[c + q * W::lanes] = c < there ? from[q][(s + c) * place.down] : 0.0;
        }
    }
    double* to[at_once];
    for (std::size_t done = 0; done < deep; done += at_once) {
        std::size_t some = 0;
        for (std::size_t j = done; j < minimum(done + at_once, deep); ++j) {
            const auto row = static_cast<std::size_t>(panel.exchanged(j)) - panel.row;
            if (row < deep) continue;
            from[some] = place.at(panel.order[row], 0);
            to[some++] = place.at(row, 0);
        }
        for (std::size_t c = 0; c < wide; ++c)
            for (std::size_t j = 0; j < some; ++j) to[j][c * place.down] = from[j][c * place.down];
    }
}

/// Compute rows of U in the strips, and store them in the matrix.
template <class W, class Place>
void solve_rows(const Panel<W>& panel, std::size_t first, std::size_t deep, const Place& place,
                std::size_t wide) {
    constexpr std::size_t together = 2;
    for (std::size_t s = 0; s < wide; s += together * W::lanes) {
        double* const x = panel.room + s * deep;
        if (wide - s > W::lanes)
            solve<W, together>(panel, first, deep, x);
        else
            solve<W, 1>(panel, first, deep, x);
    }
    for (std::size_t s = 0; s < wide; s += W::lanes) {
        const std::size_t there = minimum(W::lanes, wide - s);
        for (std::size_t q = 0; q < deep; q += W::lanes) {
            const double* const x = panel.room + s * deep + q * W::lanes;
            for (std::size_t c = 0; c < there; ++c)
                for (std::size_t r = 0; r < W::lanes; ++r)
                    place.at(first + q, s + c)[r] = x[c + r * W::lanes];
        }
    }
}

/// Subtract the product of L and these rows of U from the rows below them.
template <class W, class Place>
void subtract_below(const Panel<W>& panel, std::size_t first, std::size_t deep, const Place& place,
                    std::size_t wide) {
    std::size_t high = 0;
    for (std::size_t i = first + deep; i < panel.high; i += high) {
        const std::size_t into = i % W::rows, there = Place::padded ? W::rows : panel.high - i;
        high = into ? W::lanes : W::rows;
        for (std::size_t s = 0; s < wide; s += W::lanes) {
            const Block one = {panel.at(i, first),
                               panel.room + s * deep,
                               place.at(i, s),
                               place.down,
                               deep,
                               Into::subtract,
                               0,
                               0};
            if (into)
                corner<typename W::Part>(one, there, wide - s);
            else
                corner<typename W::Whole>(one, there, wide - s);
        }
    }
}

/// Factor half of the columns, update the other half and factor it, so that most of the work is a product.
template <class W>
void by_halves(const Panel<W>& panel, std::size_t first, std::size_t end) {
    const std::size_t wide = end - first;
    if (wide <= W::lanes) {
        by_columns(panel, first, end);
        return;
    }
    const std::size_t left = (wide / 2 + W::lanes - 1) / W::lanes * W::lanes, middle = first + left;
    by_halves(panel, first, middle);
    const Stack right = panel.from(middle);
    pack_rows(panel, first, left, right, end - middle);
    solve_rows(panel, first, left, right, end - middle);
    subtract_below(panel, first, left, right, end - middle);
    by_halves(panel, middle, end);
}

/// Apply the exchanges of `count` columns, from column `row`, to the rows of a part of the matrix that begins
/// at row `row`.
template <class Place>
void exchange_rows(const Matrix& w, std::size_t row, std::size_t count, const Place& place,
                   std::size_t wide) {
    constexpr std::size_t at_once = 64;
    double *own[at_once], *other[at_once];
    for (std::size_t done = 0; done < count; done += at_once) {
        const std::size_t some = minimum(at_once, count - done);
        for (std::size_t j = 0; j < some; ++j) {
            own[j] = place.at(done + j, 0);
            other[j] = place.at(static_cast<std::size_t>(w.exchanged[row + done + j]) - row, 0);
        }
        for (std::size_t c = 0; c < wide; ++c)
            for (std::size_t j = 0; j < some; ++j) exchange(own[j][c * place.down], other[j][c * place.down]);
    }
}

/// Update columns right of a panel.
template <class W, class Place>
void follow(const Panel<W>& panel, const Place& place, std::size_t wide) {
    exchange_and_pack(panel, place, wide);
    solve_rows(panel, 0, panel.wide, place, wide);
    subtract_below(panel, 0, panel.wide, place, wide);
}

} // namespace
