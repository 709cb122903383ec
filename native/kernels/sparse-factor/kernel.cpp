// build: -O3 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/sparse-factor/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// Return a number from 0.5 to 1.5, with so few bits that sums of four are exact.
double conductance(std::size_t number) {
    return 0.5 + static_cast<double>(mixed(number) >> 44U) * 0x1p-20;
}

/// Return 1 or -1.
double sign(std::size_t number) {
    return mixed(~static_cast<std::uint64_t>(number)) & 1U ? 1.0 : -1.0;
}

/// A rectangle of cells.
struct Region {
    std::size_t x, x_end, y, y_end;

    [[nodiscard]] std::size_t wide() const { return x_end - x; }
    [[nodiscard]] std::size_t high() const { return y_end - y; }
    [[nodiscard]] std::size_t cells() const { return wide() * high(); }

    /// Return the number of adjacent cells. They depend on the region, and on each other once it is
    /// eliminated.
    [[nodiscard]] std::size_t around(std::size_t edge) const {
        const std::size_t sides = (x > 0 ? 1U : 0U) + (x_end < edge ? 1U : 0U);
        const std::size_t ends = (y > 0 ? 1U : 0U) + (y_end < edge ? 1U : 0U);
        return sides * high() + ends * wide();
    }
};

/// A region that is divided by a line of cells in its middle.
struct Cut {
    Region before, line, behind;

    explicit Cut(const Region& all) : before(all), line(all), behind(all) {
        if (all.wide() >= all.high()) {
            before.x_end = line.x = all.x + all.wide() / 2;
            behind.x = line.x_end = line.x + 1;
        } else {
            before.y_end = line.y = all.y + all.high() / 2;
            behind.y = line.y_end = line.y + 1;
        }
    }
};

/// Total size of all nodes.
struct Totals {
    double panels = 0.0, rows = 0.0, nodes = 0.0, flops = 0.0, roots = 0.0, divisions = 0.0, entries = 0.0;
    double stack = 0.0;
    std::size_t max_rows = 0; ///< Number of rows of the largest node.

    void add(std::size_t columns, std::size_t below) {
        const std::size_t all = columns + below;
        panels += static_cast<double>(columns) * static_cast<double>(all);
        rows += static_cast<double>(below);
        nodes += 1.0;
        max_rows = std::max(max_rows, all);
        for (std::size_t j = 0; j < columns; ++j) {
            const auto left = static_cast<double>(all - j - 1);
            flops += left * (left + 1.0);
            roots += 1.0;
            divisions += left;
            entries += left + 1.0;
        }
    }
};

/// The grid, divided into two parts recursively: both parts are eliminated before the cells that separate
/// them (A. George, Nested dissection of a regular finite element mesh, 1973).
struct Dissection {
    std::size_t edge, leaf;

    [[nodiscard]] Region whole() const { return {0, edge, 0, edge}; }

    /// Report each node in the order of elimination, by the region that it completes and the cells that it
    /// consists of.
    template <class Report>
    void visit(const Region& region, Report report) const {
        if (region.cells() == 0) return;
        if (region.cells() <= leaf) {
            report(region, region);
            return;
        }
        const Cut cut(region);
        visit(cut.before, report);
        visit(cut.behind, report);
        report(region, cut.line);
    }

    /// Return the number of elements that a region needs on the stack, in addition to those already there.
    [[nodiscard]] double stack(const Region& region) const {
        const double own = left(region);
        if (region.cells() <= leaf) return own;
        const Cut cut(region);
        const double first = left(cut.before);
        return std::max({stack(cut.before), first + stack(cut.behind), first + left(cut.behind) + own});
    }

    [[nodiscard]] Totals totals() const {
        Totals found;
        visit(whole(), [this, &found](const Region& region, const Region& cells) {
            found.add(cells.cells(), region.around(edge));
        });
        found.stack = stack(whole());
        return found;
    }

  private:
    [[nodiscard]] double left(const Region& region) const {
        const auto around = static_cast<double>(region.around(edge));
        return around * around;
    }
};

const About about_factor = {
    .name = "sparse-factor",
    .title = "Factors of a sparse matrix (Cholesky, nested dissection of a grid)",
    .source = "evaluation of Intel Memory Drive Technology for scientific applications: sparse linear "
              "algebra, by the solver PARDISO",
    .bound = "multiply-add units in the large nodes; memory in the many small ones",
};

class SparseFactor final : public KernelOf<Factor> {
  public:
    [[nodiscard]] const About& about() const override { return about_factor; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"edge", "cells along an edge of the grid, an unknown each", 0, 0, 1 << 15},
                {"leaf", "largest number of cells that is not divided further", 16, 4, 4096}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t edge : {0, 1, 2, 3, 7, 20}) found.push_back({{"edge", edge}, {"leaf", 4}});
        for (const std::int64_t edge : {1, 6, 33}) found.push_back({{"edge", edge}, {"leaf", 32}});
        found.push_back({{"edge", 29}, {"leaf", 300}});
        found.push_back({{"edge", 71}, {"leaf", 9}});
        // So large that threads share a product.
        found.push_back({{"edge", 190}, {"leaf", 50}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        Values other = values;
        std::int64_t least = 1, most = 1 << 15;
        while (least < most) {
            const std::int64_t middle = (least + most + 1) / 2;
            other["edge"] = middle;
            // Skip sizes that are much too large: each of n^2 unknowns has a few rows.
            const bool fits = 40.0 * static_cast<double>(middle * middle) <= static_cast<double>(bytes) &&
                              this->bytes(other) <= static_cast<double>(bytes);
            (fits ? least : most) = fits ? middle : middle - 1;
        }
        values["edge"] = least;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        const Dissection cut = dissection(values);
        const Totals all = cut.totals();
        const auto cells = static_cast<double>(cut.edge * cut.edge),
                   max_rows = static_cast<double>(all.max_rows);
        return 8.0 * (all.panels + all.stack + strip_columns * max_rows + 2.0 * cells) +
               4.0 * (all.rows + max_rows) + 12.0 * cells + (12.0 + sizeof(Node)) * all.nodes;
    }

    void prepare(const Values& values, std::size_t shift) override {
        const Dissection cut = dissection(values);
        totals_ = cut.totals();
        const std::size_t edge = cut.edge, cells = edge * edge, nodes = count(totals_.nodes);
        l_ = Buffer<double>(count(totals_.panels), shift);
        stack_ = Buffer<double>(count(totals_.stack), shift);
        strip_ = Buffer<double>(strip_columns * totals_.max_rows);
        for (auto* one : {&east_, &north_}) *one = Buffer<double>(cells, shift);
        for (auto* one : {&number_, &cell_, &owner_}) *one = Buffer<std::int32_t>(cells);
        rows_ = Buffer<std::int32_t>(count(totals_.rows));
        places_ = Buffer<std::int32_t>(totals_.max_rows);
        waiting_ = Buffer<std::int32_t>(3 * nodes);
        nodes_ = Buffer<Node>(nodes);
        for (std::size_t one = 0; one < cells; ++one) {
            east_[one] = conductance(2 * one);
            north_[one] = conductance(2 * one + 1);
        }
        number(cut);
        work_ = {east_.data(),  north_.data(), edge,           number_.data(), cell_.data(),
                 owner_.data(), rows_.data(),  nodes_.data(),  nodes,          l_.data(),
                 stack_.data(), strip_.data(), places_.data(), waiting_.data()};
    }

    void poison() override {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < l_.size(); ++i) l_[i] = std::numeric_limits<double>::quiet_NaN();
    }

    /// Solve a system with a known solution in higher precision, and compare the residual with the largest
    /// sum of a row of A. The factor represents each element of A as a sum over columns of L, at most as many
    /// as the largest node has rows. Each term is rounded, and rounding errors grow as the root of their
    /// number.
    [[nodiscard]] Verdict check() override {
        const std::size_t n = number_.size();
        std::vector<long double> known(n), wanted(n), found(n);
        for (std::size_t i = 0; i < n; ++i) known[i] = sign(i);
        for (std::size_t i = 0; i < n; ++i) found[i] = wanted[i] = applied(known, i);
        solve(found);
        constexpr double largest = 12.0;
        Comparison rows(DBL_EPSILON * std::sqrt(static_cast<double>(totals_.max_rows + 16)), largest);
        for (std::size_t i = 0; i < n; ++i)
            rows.compare("A x - b, equation", i, static_cast<double>(applied(found, i) - wanted[i]), 0.0L);
        return rows.verdict(n);
    }

  private:
    static std::size_t count(double number) { return static_cast<std::size_t>(number); }

    static Dissection dissection(const Values& values) {
        return {static_cast<std::size_t>(values.at("edge")), static_cast<std::size_t>(values.at("leaf"))};
    }

    /// Number all cells in the order of their elimination, and list the rows of each node.
    void number(const Dissection& cut) {
        std::vector<Region> regions;
        std::int64_t column = 0, panel = 0, list = 0;
        std::vector<std::int32_t> open; // nodes without a parent yet
        cut.visit(cut.whole(), [&, this](const Region& region, const Region& cells) {
            const auto one = static_cast<std::int32_t>(regions.size());
            Node& node = nodes_[regions.size()];
            node = {column,
                    panel,
                    list,
                    static_cast<std::int32_t>(cells.cells()),
                    static_cast<std::int32_t>(region.around(cut.edge)),
                    1};
            if (region.cells() > cells.cells())
                for (int child = 0; child < 2; ++child) {
                    node.size += nodes_[static_cast<std::size_t>(open.back())].size;
                    open.pop_back();
                }
            open.push_back(one);
            for (std::size_t y = cells.y; y < cells.y_end; ++y)
                for (std::size_t x = cells.x; x < cells.x_end; ++x, ++column) {
                    const std::size_t at = x + y * cut.edge;
                    number_[at] = static_cast<std::int32_t>(column);
                    cell_[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(at);
                    owner_[static_cast<std::size_t>(column)] = one;
                }
            panel += static_cast<std::int64_t>(node.columns) * (node.columns + node.below);
            list += node.below;
            regions.push_back(region);
        });
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < regions.size(); ++i) list_rows(cut, regions[i], nodes_[i]);
    }

    void list_rows(const Dissection& cut, const Region& region, const Node& node) {
        std::int32_t* const first = rows_.data() + node.list;
        std::int32_t* to = first;
        for (std::size_t y = region.y; y < region.y_end; ++y) {
            if (region.x > 0) *to++ = number_[region.x - 1 + y * cut.edge];
            if (region.x_end < cut.edge) *to++ = number_[region.x_end + y * cut.edge];
        }
        for (std::size_t x = region.x; x < region.x_end; ++x) {
            if (region.y > 0) *to++ = number_[x + (region.y - 1) * cut.edge];
            if (region.y_end < cut.edge) *to++ = number_[x + region.y_end * cut.edge];
        }
        std::sort(first, to);
    }

    /// Return the left side of an equation.
    [[nodiscard]] long double applied(const std::vector<long double>& x, std::size_t i) const {
        const std::size_t edge = work_.edge, cell = static_cast<std::size_t>(cell_[i]);
        long double found = 0.0L;
        const auto flows = [&](bool there, std::size_t to, double conducts) {
            found += conducts * (x[i] - (there ? x[static_cast<std::size_t>(number_[to])] : 0.0L));
        };
        flows(cell % edge + 1 < edge, cell + 1, conductance(2 * cell));
        flows(cell / edge + 1 < edge, cell + edge, conductance(2 * cell + 1));
        if (cell % edge > 0) flows(true, cell - 1, conductance(2 * (cell - 1)));
        if (cell / edge > 0) flows(true, cell - edge, conductance(2 * (cell - edge) + 1));
        return found;
    }

    /// Return the row of A for a row of a node's panel.
    [[nodiscard]] std::size_t row(const Node& node, std::size_t i) const {
        const auto columns = static_cast<std::size_t>(node.columns);
        if (i < columns) return static_cast<std::size_t>(node.first) + i;
        return static_cast<std::size_t>(rows_[static_cast<std::size_t>(node.list) + i - columns]);
    }

    /// Solve L L' x = b, with x in the place of b.
    void solve(std::vector<long double>& x) const {
        for (const Node& node : nodes_)
            for (std::size_t j = 0; j < static_cast<std::size_t>(node.columns); ++j) {
                const double* const l = column(node, j);
                const long double one = x[row(node, j)] /= l[j];
                for (std::size_t i = j + 1; i < height(node); ++i) x[row(node, i)] -= l[i] * one;
            }
        for (std::size_t k = nodes_.size(); k-- > 0;) {
            const Node& node = nodes_[k];
            for (auto j = static_cast<std::size_t>(node.columns); j-- > 0;) {
                const double* const l = column(node, j);
                long double one = x[row(node, j)];
                for (std::size_t i = j + 1; i < height(node); ++i) one -= l[i] * x[row(node, i)];
                x[row(node, j)] = one / l[j];
            }
        }
    }

    static std::size_t height(const Node& node) {
        return static_cast<std::size_t>(node.columns) + static_cast<std::size_t>(node.below);
    }

    [[nodiscard]] const double* column(const Node& node, std::size_t j) const {
        return l_.data() + node.panel + static_cast<std::int64_t>(j * height(node));
    }

    /// Count the division of each column, and its subtraction from the columns of its rows. L is written at
    /// least once, and the conductances of the cells are read.
    [[nodiscard]] Cost default_cost() const override {
        const auto cells = static_cast<double>(number_.size());
        const double bytes = 8.0 * totals_.entries + 16.0 * cells;
        return {.flops = totals_.flops,
                .special = totals_.roots + totals_.divisions,
                .bytes = bytes,
                .bytes_with_allocate = bytes + 8.0 * totals_.entries};
    }

    Buffer<double> l_, stack_, strip_, east_, north_;
    Buffer<std::int32_t> number_, cell_, owner_, rows_, places_, waiting_;
    Buffer<Node> nodes_;
    Totals totals_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::SparseFactor kernel;
    return assay::kernels::program(kernel, argc, argv);
}
