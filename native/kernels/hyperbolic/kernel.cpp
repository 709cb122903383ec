// build: -O3 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/hyperbolic/work.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

using Fields = std::array<long double, fields>;

/// Return a number of few bits from -1 to 1.
double datum(std::size_t number) {
    return static_cast<double>(mixed(number) >> 44U) * 0x1p-19 - 1.0;
}

/// Return the initial state of a cell. All cells are different; the speed of waves is at most 1.8, so that
/// steps are short enough.
std::array<double, fields> begun(std::size_t cell) {
    const double mass = 1.0 + 0.25 * datum(4 * cell), pressure = 1.0 + 0.25 * datum(4 * cell + 1);
    const double x = 0.25 * datum(4 * cell + 2), y = 0.25 * datum(4 * cell + 3);
    return {mass, mass * x, mass * y, pressure / (gamma - 1.0) + 0.5 * mass * (x * x + y * y)};
}

const About about_hyperbolic = {
    .name = "hyperbolic",
    .title = "Conservation laws on a grid (Euler's equations, explicit steps)",
    .source =
        "evaluation of Intel Memory Drive Technology for scientific applications: AstroPhi, which solves "
        "hyperbolic equations of astrophysics, is limited by memory and reaches half of its speed",
    .bound = "memory bandwidth with a pass for each step; roots and divisions with several steps in one pass",
    .in_place = true,
};

class Hyperbolic final : public KernelOf<Gas> {
  public:
    [[nodiscard]] const About& about() const override { return about_hyperbolic; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        constexpr std::int64_t most = 1 << 20;
        return {{"nx", "cells of a row", 0, 0, most},
                {"ny", "rows", 0, 0, most},
                {"steps", "time steps of one repetition", 4, 1, 16},
                {"together", "time steps in one pass over the grid", 4, 1, 16},
                {"wide", "cells of a tile's rows in such a pass", 128, 1, 4096},
                {"high", "rows of a tile in such a pass", 32, 1, 4096}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        const std::int64_t sizes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {2, 2}, {37, 29}};
        for (const auto& [nx, ny] : sizes) found.push_back({{"nx", nx}, {"ny", ny}});
        found.push_back({{"nx", 33}, {"ny", 18}, {"steps", 1}, {"wide", 7}, {"high", 5}});
        found.push_back({{"nx", 20}, {"ny", 31}, {"steps", 5}, {"together", 2}, {"wide", 8}, {"high", 9}});
        found.push_back({{"nx", 5}, {"ny", 3}, {"steps", 16}, {"together", 16}, {"wide", 4}, {"high", 1}});
        // If there are more cells, only a part is checked.
        found.push_back({{"nx", 201}, {"ny", 190}, {"steps", 3}});
        return found;
    }

    /// Choose a square grid; the bytes are those of both arrays.
    void fit(Values& values, std::int64_t bytes) const override {
        const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 64.0));
        for (const char* name : {"nx", "ny"}) values[name] = std::clamp<std::int64_t>(side, 1, 1 << 20);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 64.0 * static_cast<double>(values.at("nx")) * static_cast<double>(values.at("ny"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto get = [&values](const char* name) { return static_cast<std::size_t>(values.at(name)); };
        const std::size_t nx = get("nx"), ny = get("ny"), together = get("together"), wide = get("wide"),
                          high = get("high");
        for (auto* one : {&state_, &other_}) *one = Buffer<double>(fields * nx * ny, shift);
        const std::size_t row = 3 * sides(std::max(nx, wide + 2 * together));
        const std::size_t room = row + 2 * fields * cells_of_tile(wide, high, together);
        rooms_ = Buffer<double>(room * static_cast<std::size_t>(threads()));
        work_ = {state_.data(), other_.data(), &found_,       nx,  ny, get("steps"), together,
                 wide,          high,          rooms_.data(), room};
    }

    /// Initialise with the threads that process the rows, for first touch. Output is filled with NaN.
    void restore() override {
        const std::size_t nx = work_.nx, ny = work_.ny;
#pragma omp parallel for schedule(static)
        for (std::size_t y = 0; y < ny; ++y)
            for (std::size_t cell = y * nx; cell < (y + 1) * nx; ++cell) {
                const auto one = begun(cell);
                for (std::size_t f = 0; f < fields; ++f) {
                    state_[cell + f * nx * ny] = one[f];
                    other_[cell + f * nx * ny] = std::numeric_limits<double>::quiet_NaN();
                }
            }
    }

    void poison() override { found_ = -1; }

    /// Check patches (all, or some if there are many) against steps in higher precision, and all conserved
    /// quantities. A flux and the relative error of its root contain a dozen roundings each; values are from
    /// 1 to 4 in size.
    [[nodiscard]] Verdict check() override {
        if (found_ != 0 && found_ != 1)
            return {false, std::numeric_limits<double>::max(), "no array is marked as the last step"};
        const Buffer<double>& array = found_ ? other_ : state_;
        const auto steps = static_cast<double>(work_.steps);
        Comparison cells(16.0 * steps * DBL_EPSILON, 1.0);
        const std::size_t across = patches(work_.nx), all = across * patches(work_.ny);
        const std::size_t step = all <= patches_checked ? 1 : all / patches_checked | 1U;
        std::size_t compared = 0;
        for (std::size_t number = 0; number < all; number += step)
            compared += compare_patch(array, number % across * patch, number / across * patch, cells);
        return all_of({cells.verdict(compared), conserved(array)});
    }

  private:
    /// Number of cells of a checked patch in each direction, and of patches to check.
    static constexpr std::size_t patch = 8, patches_checked = 256;

    static std::size_t patches(std::size_t cells) { return (cells + patch - 1) / patch; }

    /// A part of the grid in higher precision.
    struct Reference {
        std::size_t wide, high;
        std::vector<Fields> cells;

        [[nodiscard]] const Fields& at(std::size_t x, std::size_t y) const { return cells[x + y * wide]; }
    };

    /// Return the initial state of a patch and of the cells around it that it depends on.
    [[nodiscard]] Reference around(std::size_t x, std::size_t y) const {
        const std::size_t nx = work_.nx, ny = work_.ny, steps = work_.steps;
        Reference found{patch + 2 * steps, patch + 2 * steps, {}};
        for (std::size_t j = 0; j < found.high; ++j)
            for (std::size_t i = 0; i < found.wide; ++i) {
                const std::size_t row = (y + j + steps * ny - steps) % ny;
                const auto one = begun((x + i + steps * nx - steps) % nx + row * nx);
                found.cells.push_back({one[0], one[1], one[2], one[3]});
            }
        return found;
    }

    static Fields flux(const Fields& l, const Fields& r, std::size_t along) {
        Fields sum{};
        long double fastest = 0.0L;
        for (const Fields* one : {&l, &r}) {
            const auto& [mass, x, y, energy] = *one;
            const long double velocity = (*one)[along] / mass;
            const long double pressure =
                (static_cast<long double>(gamma) - 1.0L) * (energy - (x * x + y * y) / mass / 2.0L);
            for (std::size_t f = 0; f < fields; ++f) sum[f] += (*one)[f] * velocity;
            sum[along] += pressure;
            sum[3] += pressure * velocity;
            fastest = std::max(fastest, std::fabs(velocity) +
                                            std::sqrt(static_cast<long double>(gamma) * pressure / mass));
        }
        for (std::size_t f = 0; f < fields; ++f) sum[f] = (sum[f] - fastest * (r[f] - l[f])) / 2.0L;
        return sum;
    }

    static Reference stepped(const Reference& from) {
        Reference found{from.wide - 2, from.high - 2, {}};
        for (std::size_t y = 1; y + 1 < from.high; ++y)
            for (std::size_t x = 1; x + 1 < from.wide; ++x) {
                const Fields& own = from.at(x, y);
                const Fields left = flux(from.at(x - 1, y), own, 1), right = flux(own, from.at(x + 1, y), 1);
                const Fields below = flux(from.at(x, y - 1), own, 2), above = flux(own, from.at(x, y + 1), 2);
                Fields next{};
                for (std::size_t f = 0; f < fields; ++f)
                    next[f] =
                        own[f] - static_cast<long double>(ratio) * (right[f] - left[f] + above[f] - below[f]);
                found.cells.push_back(next);
            }
        return found;
    }

    /// \return number of compared values.
    std::size_t compare_patch(const Buffer<double>& array, std::size_t x, std::size_t y,
                              Comparison& cells) const {
        constexpr std::array<const char*, fields> names = {"mass of cell", "momentum in x of cell",
                                                           "momentum in y of cell", "energy of cell"};
        Reference wanted = around(x, y);
        for (std::size_t t = 0; t < work_.steps; ++t) wanted = stepped(wanted);
        std::size_t compared = 0;
        for (std::size_t j = 0; j < std::min(patch, work_.ny - y); ++j)
            for (std::size_t i = 0; i < std::min(patch, work_.nx - x); ++i)
                for (std::size_t f = 0; f < fields; ++f, ++compared) {
                    const std::size_t cell = x + i + (y + j) * work_.nx;
                    cells.compare(names[f], cell, array[cell + f * work_.nx * work_.ny], wanted.at(i, j)[f]);
                }
        return compared;
    }

    /// Check that the sum of each field is conserved, except for the rounding of each cell.
    [[nodiscard]] Verdict conserved(const Buffer<double>& array) const {
        const std::size_t nx = work_.nx, ny = work_.ny;
        std::vector<Fields> wanted(ny), found(ny);
#pragma omp parallel for schedule(static)
        for (std::size_t y = 0; y < ny; ++y)
            for (std::size_t cell = y * nx; cell < (y + 1) * nx; ++cell) {
                const auto one = begun(cell);
                for (std::size_t f = 0; f < fields; ++f) {
                    wanted[y][f] += one[f];
                    found[y][f] += array[cell + f * nx * ny];
                }
            }
        Comparison sums(16.0 * static_cast<double>(work_.steps) * DBL_EPSILON, 1.0);
        const auto cells = static_cast<long double>(std::max<std::size_t>(nx * ny, 1));
        for (std::size_t f = 0; f < fields; ++f) {
            const auto mean = [f, cells](const std::vector<Fields>& rows) {
                long double sum = 0.0L;
                for (const Fields& one : rows) sum += one[f];
                return sum / cells;
            };
            sums.compare("mean of field", f, static_cast<double>(mean(found)), mean(wanted));
        }
        return sums.verdict(fields);
    }

    /// Count two sides for each cell, and five operations for each of its fields; all fields are read and
    /// written.
    [[nodiscard]] Cost default_cost() const override {
        const double cells =
            static_cast<double>(work_.nx) * static_cast<double>(work_.ny) * static_cast<double>(work_.steps);
        return {.flops = 124.0 * cells,
                .special = 8.0 * cells,
                .bytes = 64.0 * cells,
                .bytes_with_allocate = 96.0 * cells};
    }

    Buffer<double> state_, other_, rooms_;
    int found_ = -1;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Hyperbolic kernel;
    return assay::kernels::program(kernel, argc, argv);
}
