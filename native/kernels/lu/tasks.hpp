#pragma once

/// Factorisation with all threads: step by step, or by tasks that wait only for their dependencies.

#include "kernels/lu/panels.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

/// Return the scratch of the calling thread.
inline double* own_room(const Matrix& w) {
#ifdef _OPENMP
    return w.rows + static_cast<std::size_t>(omp_get_thread_num()) * w.room;
#else
    return w.rows;
#endif
}

/// Factor each panel with one thread, for which the others wait, and divide the columns to update among all
/// threads.
template <class W>
void step_by_step(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    const InPlace matrix{w};
#pragma omp parallel
    {
        for (std::size_t k = 0; k < w.n; k += w.tile) {
            const auto panel = panel_at<W>(w, k, 0, own_room(w));
#pragma omp single
            factor<W, ByHalves>(panel, matrix.block(k, k));
#pragma omp for schedule(dynamic)
            for (std::size_t j = k + w.tile; j < w.n; j += w.tile)
                follow(panel, matrix.block(k, j), minimum(w.tile, w.n - j));
        }
#pragma omp for schedule(dynamic)
        for (std::size_t j = 0; j < w.n; j += w.tile) exchange_left(w, j);
    }
}

/// Load a panel that was factored before, with all threads.
template <class W>
void load_again(const Panel<W>& panel, const Columns& place) {
    constexpr std::size_t rows = group<typename W::Whole>;
#pragma omp single nowait
    order_rows(panel);
#pragma omp for
    for (std::size_t i = 0; i < panel.high; i += rows)
        pack_a<typename W::Whole>(place.at(i, 0), place.down, minimum(rows, panel.high - i), panel.wide,
                                  panel.strips + i * panel.wide);
}

/// Process an eighth of the columns at a time: update them with all columns to their left, then factor them.
/// Each eighth is written in only one of these rounds, and columns to its left are only read.
template <class W>
void from_the_left(const Matrix& w) {
    constexpr std::size_t parts = 8;
    *w.singular = static_cast<std::int64_t>(w.n);
    const InPlace matrix{w};
    const std::size_t tiles = (w.n + w.tile - 1) / w.tile, wide = (tiles + parts - 1) / parts * w.tile;
#pragma omp parallel
    {
        for (std::size_t first = 0; first < w.n; first += wide) {
            const std::size_t end = minimum(first + wide, w.n);
            for (std::size_t k = 0; k < end; k += w.tile) {
                const auto panel = panel_at<W>(w, k, 0, own_room(w));
                if (k < first) {
                    load_again(panel, matrix.block(k, k));
                } else {
#pragma omp single
                    factor<W, ByHalves>(panel, matrix.block(k, k));
                }
                const std::size_t next = k < first ? first : k + w.tile;
#pragma omp for schedule(dynamic)
                for (std::size_t j = next; j < end; j += w.tile)
                    follow(panel, matrix.block(k, j), minimum(w.tile, end - j));
            }
        }
#pragma omp for schedule(dynamic)
        for (std::size_t j = 0; j < w.n; j += w.tile) exchange_left(w, j);
    }
}

/// Copy the columns of a tile from the matrix to tiles.
inline void to_tiles(const Matrix& w, std::size_t j) {
    const Stack tiles = InTiles{w}.block(0, j);
    for (std::size_t c = 0; c < minimum(w.tile, w.n - j); ++c)
        for (std::size_t i = 0; i < w.n; i += w.tile)
            __builtin_memcpy(tiles.at(i, c), w.a + i + (j + c) * w.n,
                             sizeof(double) * minimum(w.tile, w.n - i));
}

inline void from_tiles(const Matrix& w, std::size_t j) {
    const Stack tiles = InTiles{w}.block(0, j);
    for (std::size_t c = 0; c < minimum(w.tile, w.n - j); ++c)
        for (std::size_t i = 0; i < w.n; i += w.tile)
            __builtin_memcpy(w.a + i + (j + c) * w.n, tiles.at(i, c),
                             sizeof(double) * minimum(w.tile, w.n - i));
}

/// Return the panel that a task processes. Every second panel uses the same space.
template <class W>
Panel<W> panel_of(const Matrix& w, std::size_t k) {
    return panel_at<W>(w, k, k / w.tile % 2, own_room(w));
}

/// Create a task for each panel and for each tile's columns right of it, so that the next panel is factored
/// as soon as its columns are updated. In dependencies, the record of exchanges represents the columns of a
/// tile, and the first element of a panel represents the panel.
template <class W, class Layout>
void by_tasks(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    const Layout matrix{w};
    constexpr bool tiled = Layout::tiled;
#pragma omp parallel
    {
        // Always the same thread creates tasks: another thread would free the records of dependencies after
        // all threads have continued.
#pragma omp master
        {
            for (std::size_t j = 0; tiled && j < w.n; j += w.tile) {
#pragma omp task depend(out : w.exchanged[j])
                to_tiles(w, j);
            }
            for (std::size_t k = 0; k < w.n; k += w.tile) {
                [[maybe_unused]] const double* const now = panel_of<W>(w, k).strips;
#pragma omp task depend(inout : w.exchanged[k]) depend(out : now[0])
                factor<W, ByHalves>(panel_of<W>(w, k), matrix.block(k, k));
                for (std::size_t j = k + w.tile; j < w.n; j += w.tile) {
#pragma omp task depend(in : now[0]) depend(inout : w.exchanged[j])
                    follow(panel_of<W>(w, k), matrix.block(k, j), minimum(w.tile, w.n - j));
                }
            }
        }
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (std::size_t j = 0; j < w.n; j += w.tile) {
            if (tiled) from_tiles(w, j);
            exchange_left(w, j);
        }
    }
}

} // namespace
