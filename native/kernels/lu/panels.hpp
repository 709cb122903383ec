#pragma once

/// Factorisation panel by panel.

#include "kernels/lu/panel.hpp"

namespace {

/// Ways to factor a panel.
struct ByColumns {
    template <class W>
    static void factor(const Panel<W>& panel) {
        by_columns(panel, 0, panel.wide);
    }
};

struct ByHalves {
    template <class W>
    static void factor(const Panel<W>& panel) {
        by_halves(panel, 0, panel.wide);
    }
};

/// Return the panel that begins at row k, stored in the first or second space for panels.
template <class W>
Panel<W> panel_at(const Matrix& w, std::size_t k, std::size_t number, double* room) {
    return {w.panels + number * w.panel, w.n - k, minimum(w.tile, w.n - k), k, w, room,
            w.orders + number * w.n};
}

/// Find the position of each row before the recorded exchanges.
template <class W>
void order_rows(const Panel<W>& panel) {
    for (std::size_t i = 0; i < panel.high; ++i) panel.order[i] = i;
    for (std::size_t j = 0; j < panel.wide; ++j) {
        std::size_t& other = panel.order[static_cast<std::size_t>(panel.exchanged(j)) - panel.row];
        const std::size_t before = panel.order[j];
        panel.order[j] = other;
        other = before;
    }
}

template <class W, class How, class Place>
void factor(const Panel<W>& panel, const Place& place) {
    load(panel, place);
    How::factor(panel);
    store(panel, place);
    order_rows(panel);
}

/// Apply the exchanges of all later panels to the panel that begins at column j.
inline void exchange_left(const Matrix& w, std::size_t j) {
    const std::size_t row = j + w.tile;
    if (row < w.n) exchange_rows(w, row, w.n - row, InPlace{w}.block(row, j), w.tile);
}

template <class W, class How>
void serially(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    const InPlace matrix{w};
    for (std::size_t k = 0; k < w.n; k += w.tile) {
        const auto panel = panel_at<W>(w, k, 0, w.rows);
        factor<W, How>(panel, matrix.block(k, k));
        for (std::size_t j = k + w.tile; j < w.n; j += w.tile)
            follow(panel, matrix.block(k, j), minimum(w.tile, w.n - j));
    }
    for (std::size_t j = 0; j < w.n; j += w.tile) exchange_left(w, j);
}

} // namespace
