#pragma once

/// Local to each file that includes it: see dense.hpp.

#include "kernels/sparse-factor/dense.hpp"
#include "kernels/sparse-factor/work.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Factor;
using assay::kernels::Node;

inline std::size_t columns_of(const Node& node) {
    return static_cast<std::size_t>(node.columns);
}

inline std::size_t below_of(const Node& node) {
    return static_cast<std::size_t>(node.below);
}

inline std::size_t size_of(const Node& node) {
    return static_cast<std::size_t>(node.size);
}

/// Return a node's part of L.
inline Part panel(const Factor& w, const Node& node) {
    return {w.l + node.panel, columns_of(node) + below_of(node)};
}

inline const std::int32_t* rows_of(const Factor& w, const Node& node) {
    return w.rows + node.list;
}

/// Return the row of a node's panel for a row of A.
inline std::size_t row_in(const Factor& w, const Node& node, std::int32_t row) {
    if (row < node.first + node.columns) return static_cast<std::size_t>(row - node.first);
    const std::int32_t* const rows = rows_of(w, node);
    std::size_t first = 0, last = below_of(node);
    while (first < last) {
        const std::size_t middle = (first + last) / 2;
        if (rows[middle] < row)
            first = middle + 1;
        else
            last = middle;
    }
    return columns_of(node) + first;
}

/// Enter one neighbour of a cell into A. Only elements below the diagonal are stored, in the column of the
/// cell that is eliminated first.
inline void connect(const Factor& w, const Node& node, std::size_t column, std::size_t cell,
                    double conducts) {
    const std::int32_t row = w.number[cell];
    const auto own = static_cast<std::int32_t>(node.first) + static_cast<std::int32_t>(column);
    if (row > own) *panel(w, node).at(row_in(w, node, row), column) = -conducts;
}

/// Fill a node's part of L with its part of A.
inline void begin(const Factor& w, const Node& node) {
    const std::size_t columns = columns_of(node), rows = columns + below_of(node), edge = w.edge;
    double* const all = w.l + node.panel;
    for (std::size_t i = 0; i < rows * columns; ++i) all[i] = 0.0;
    for (std::size_t j = 0; j < columns; ++j) {
        const auto cell = static_cast<std::size_t>(w.cell[node.first + static_cast<std::int64_t>(j)]);
        const std::size_t x = cell % edge, y = cell / edge;
        const double west = x ? w.east[cell - 1] : 0.0, south = y ? w.north[cell - edge] : 0.0;
        *panel(w, node).at(j, j) = w.east[cell] + w.north[cell] + west + south;
        if (x) connect(w, node, j, cell - 1, west);
        if (y) connect(w, node, j, cell - edge, south);
        if (x + 1 < edge) connect(w, node, j, cell + 1, w.east[cell]);
        if (y + 1 < edge) connect(w, node, j, cell + edge, w.north[cell]);
    }
}

/// Find the positions of some rows of a node in another node, which contains all of them.
inline void place(const Factor& w, const std::int32_t* rows, std::size_t count, const Node& other) {
    const std::int32_t* const list = rows_of(w, other);
    const std::size_t columns = columns_of(other);
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (rows[i] < other.first + other.columns) {
            w.places[i] = static_cast<std::int32_t>(rows[i] - other.first);
        } else {
            while (list[at] != rows[i]) ++at;
            w.places[i] = static_cast<std::int32_t>(columns + at);
        }
    }
}

/// Return the number of rows of a node that are columns of the same other node, from row `from` below its
/// columns.
inline std::size_t together(const Factor& w, const Node& node, std::size_t from) {
    const std::int32_t* const rows = rows_of(w, node);
    const std::int32_t other = w.owner[rows[from]];
    std::size_t last = from + 1;
    while (last < below_of(node) && w.owner[rows[last]] == other) ++last;
    return last - from;
}

/// Subtract a node's update from the columns of another node. These columns are `count` rows of the node,
/// from row `from` below its columns.
template <class Dense>
inline void subtract_update(const Factor& w, const Node& node, std::size_t from, std::size_t count,
                            const Node& other) {
    const Part source = panel(w, node), to = panel(w, other);
    const std::size_t below = below_of(node), columns = columns_of(node);
    place(w, rows_of(w, node) + from, below - from, other);
    for (std::size_t j = 0; j < count; j += assay::kernels::strip_columns) {
        const std::size_t some = minimum(assay::kernels::strip_columns, count - j), rows = below - from - j;
        const Part strip = {w.strip, rows};
        for (std::size_t i = 0; i < rows * some; ++i) w.strip[i] = 0.0;
        Dense::subtract_product(strip, rows, some, {source.at(columns + from + j, 0), source.down}, columns);
        const std::int32_t* const places = w.places + j;
        for (std::size_t l = 0; l < some; ++l) {
            double* const column = to.at(0, static_cast<std::size_t>(places[l]));
            for (std::size_t i = l; i < rows; ++i) column[places[i]] += *strip.at(i, l);
        }
    }
}

template <class Dense>
inline void factor_node(const Factor& w, const Node& node) {
    factor<Dense>(panel(w, node), columns_of(node) + below_of(node), columns_of(node));
}

/// Factor right-looking: as soon as a node is factored, subtract its updates from all nodes that depend on
/// it. These are written repeatedly.
template <class Dense>
void right_looking(const Factor& w) {
    for (std::size_t i = 0; i < w.count; ++i) begin(w, w.nodes[i]);
    for (std::size_t i = 0; i < w.count; ++i) {
        const Node& node = w.nodes[i];
        factor_node<Dense>(w, node);
        for (std::size_t from = 0; from < below_of(node);) {
            const std::size_t count = together(w, node, from);
            subtract_update<Dense>(w, node, from, count, w.nodes[w.owner[rows_of(w, node)[from]]]);
            from += count;
        }
    }
}

/// Lists of the nodes whose next update is for the same node, each with the first row whose update was not
/// yet subtracted.
struct Waiting {
    static constexpr std::int32_t nobody = -1;
    const Factor& w;

    [[nodiscard]] std::int32_t& first(std::size_t node) const { return w.waiting[3 * node]; }
    [[nodiscard]] std::int32_t& next(std::size_t node) const { return w.waiting[3 * node + 1]; }
    [[nodiscard]] std::int32_t& from(std::size_t node) const { return w.waiting[3 * node + 2]; }

    void clear() const {
        for (std::size_t i = 0; i < w.count; ++i) first(i) = nobody;
    }

    /// Add a node to the list of the node that owns the row as a column, if the row exists.
    void wait(std::size_t node, std::size_t row) const {
        if (row == below_of(w.nodes[node])) return;
        const auto other = static_cast<std::size_t>(w.owner[rows_of(w, w.nodes[node])[row]]);
        from(node) = static_cast<std::int32_t>(row);
        next(node) = first(other);
        first(other) = static_cast<std::int32_t>(node);
    }
};

/// Factor left-looking: before a node is factored, subtract the updates of all nodes that it depends on.
/// These are read repeatedly.
template <class Dense>
void left_looking(const Factor& w) {
    const Waiting waiting{w};
    waiting.clear();
    for (std::size_t i = 0; i < w.count; ++i) {
        const Node& node = w.nodes[i];
        begin(w, node);
        for (std::int32_t one = waiting.first(i), next = 0; one != Waiting::nobody; one = next) {
            const auto other = static_cast<std::size_t>(one);
            next = waiting.next(other);
            const auto from = static_cast<std::size_t>(waiting.from(other));
            const std::size_t count = together(w, w.nodes[other], from);
            subtract_update<Dense>(w, w.nodes[other], from, count, node);
            waiting.wait(other, from + count);
        }
        factor_node<Dense>(w, node);
        waiting.wait(i, 0);
    }
}

/// Add a child's update to the columns of a node, and to the node's own update.
inline void add_child(const Factor& w, const Node& child, const double* left, const Node& node,
                      const Part& rest) {
    const std::size_t below = below_of(child), columns = columns_of(node);
    const Part own = panel(w, node);
    place(w, rows_of(w, child), below, node);
    for (std::size_t j = 0; j < below; ++j) {
        const auto column = static_cast<std::size_t>(w.places[j]);
        const double* const from = left + j * below;
        if (column < columns) {
            double* const to = own.at(0, column);
            for (std::size_t i = j; i < below; ++i) to[w.places[i]] += from[i];
        } else {
            double* const to = rest.at(0, column - columns);
            for (std::size_t i = j; i < below; ++i)
                to[static_cast<std::size_t>(w.places[i]) - columns] += from[i];
        }
    }
}

/// Factor by the multifrontal method: a node's updates are passed to its ancestors through its parent, as a
/// matrix on a stack (I. Duff, J. Reid, The multifrontal solution of indefinite sparse symmetric linear
/// equations, 1983): L is written once, and not read.
template <class Dense>
void multifrontal(const Factor& w) {
    double* top = w.stack;
    for (std::size_t i = 0; i < w.count; ++i) {
        const Node& node = w.nodes[i];
        const std::size_t below = below_of(node), columns = columns_of(node);
        const Part own = panel(w, node), rest = {top, below};
        begin(w, node);
        for (std::size_t k = 0; k < below * below; ++k) rest.first[k] = 0.0;
        double* left = top;
        // The second child is the previous node, and its update is on top of the stack. The first child
        // precedes all nodes that the second one depends on.
        for (std::size_t distance = 1; distance < size_of(node); distance += size_of(w.nodes[i - distance])) {
            const Node& child = w.nodes[i - distance];
            left -= below_of(child) * below_of(child);
            add_child(w, child, left, node, rest);
        }
        factor<Dense>(own, columns + below, columns);
        Dense::subtract_product(rest, below, below, {own.at(columns, 0), own.down}, columns);
        for (std::size_t k = 0; k < below * below; ++k) left[k] = rest.first[k];
        top = left + below * below;
    }
}

} // namespace
