// build: -O3 -fopenmp
#include "kernels/cell-list/work.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// Maximum number of cells to check.
constexpr std::size_t cells_checked = 2048;

struct Place {
    double x, y, z;
};

/// Number of particles in one cell.
struct Cell {
    std::size_t count = 0;
    Place at[max_particles];
};

/// Select the sites of a cell that contain a particle: of the 16 sites of a crystal, 13 on average, which is
/// the density of a liquid.
std::uint32_t occupied(std::size_t cell) {
    const std::uint64_t drawn = mixed(~static_cast<std::uint64_t>(cell));
    std::uint32_t sites = 0;
    for (std::uint32_t site = 0; site < max_particles; ++site)
        if ((drawn >> 4U * site & 15U) >= 3) sites |= 1U << site;
    return sites;
}

std::size_t count_of(std::size_t cell) {
    return static_cast<std::size_t>(std::popcount(occupied(cell)));
}

/// Generate particles near the sites of a body-centred crystal. Coordinates are multiples of 2^-20, so that
/// squares of distances are exact, and all variants find the same pairs within the cut-off radius.
Cell particles_of(std::size_t cell, std::size_t edge) {
    constexpr double half = cutoff / 4.0;
    const std::uint32_t sites = occupied(cell);
    const Place corner = {cutoff * static_cast<double>(cell % edge),
                          cutoff * static_cast<double>(cell / edge % edge),
                          cutoff * static_cast<double>(cell / edge / edge)};
    Cell found;
    for (std::size_t site = 0; site < max_particles; ++site) {
        if ((sites >> site & 1U) == 0) continue;
        const std::uint64_t drawn = mixed(cell * max_particles + site);
        const auto along = [site, drawn](unsigned axis) {
            const auto steps = static_cast<double>((site >> axis & 1U) * 2 + (site >> 3U & 1U));
            const auto off = static_cast<double>(drawn >> 16U * axis & 0xffffU) - 32768.0;
            return half / 2.0 + half * steps + off * 0x1p-20;
        };
        found.at[found.count++] = {corner.x + along(0), corner.y + along(1), corner.z + along(2)};
    }
    return found;
}

/// Coordinates of a cell.
struct Steps {
    std::size_t at[3];
};

/// Return every third bit, beginning with one of the lowest three.
std::size_t every_third(std::uint64_t code, unsigned from) {
    std::size_t found = 0;
    for (unsigned bit = 0; from + 3 * bit < 64; ++bit)
        found |= static_cast<std::size_t>(code >> (from + 3 * bit) & 1U) << bit;
    return found;
}

/// Return the cell at a position on the curve (G. M. Morton, A computer oriented geodetic data base, 1966),
/// which fills a cube whose edge is a power of two.
Steps on_curve(std::uint64_t code) {
    return {{every_third(code, 0), every_third(code, 1), every_third(code, 2)}};
}

const About about_cells = {
    .name = "cell-list",
    .title = "Forces of molecular dynamics (Lennard-Jones, particles sorted into cells)",
    .source = "evaluation of Intel Memory Drive Technology for scientific applications: LAMMPS is limited by "
              "memory, and reaches half of its speed with most data on storage",
    .bound = "operations of the cores for each candidate pair; a particle has 48 bytes and 350 candidates",
};

class CellList final : public KernelOf<Box> {
  public:
    [[nodiscard]] const About& about() const override { return about_cells; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"edge", "cells along an edge of the box, 13 particles each", 0, 0, 1024},
                {"sorted", "order of cells in memory, 0: rows; 1: a curve that fills the box", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t edge : {0, 1, 2, 3, 5}) found.push_back({{"edge", edge}, {"sorted", 0}});
        for (const std::int64_t edge : {1, 3, 6}) found.push_back({{"edge", edge}, {"sorted", 1}});
        // If there are more cells, only a part is checked.
        found.push_back({{"edge", 13}, {"sorted", 0}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        const auto takes = [this, &values](std::int64_t edge) {
            Values other = values;
            other["edge"] = edge;
            return this->bytes(other);
        };
        constexpr double usual = 13.0 * 48.0 + 16.0;
        auto edge = static_cast<std::int64_t>(std::cbrt(1.1 * static_cast<double>(bytes) / usual)) + 1;
        while (edge > 1 && takes(edge) > static_cast<double>(bytes)) --edge;
        values["edge"] = std::min<std::int64_t>(edge, 1024);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        const auto edge = static_cast<std::size_t>(values.at("edge")), cells = edge * edge * edge;
        std::size_t particles = 0;
#pragma omp parallel for schedule(static) reduction(+ : particles)
        for (std::size_t cell = 0; cell < cells; ++cell) particles += count_of(cell);
        return 48.0 * static_cast<double>(particles) + 16.0 * static_cast<double>(cells);
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto edge = static_cast<std::size_t>(values.at("edge")), cells = edge * edge * edge;
        first_ = Buffer<std::int64_t>(cells);
        count_ = Buffer<std::int32_t>(cells);
        along_ = Buffer<std::int32_t>(cells);
        order(edge);
        std::int64_t particles = 0;
        for (std::size_t k = 0; k < cells; ++k) {
            const auto cell = values.at("sorted") ? static_cast<std::size_t>(along_[k]) : k;
            first_[cell] = particles;
            particles += count_[cell] = static_cast<std::int32_t>(count_of(cell));
        }
        const auto n = static_cast<std::size_t>(particles);
        for (auto* one : {&x_, &y_, &z_, &fx_, &fy_, &fz_}) *one = Buffer<double>(n, shift);
        work_ = {x_.data(),     y_.data(),     z_.data(), fx_.data(), fy_.data(), fz_.data(), first_.data(),
                 count_.data(), along_.data(), edge,      n,          0.0,        0.0};
        fill();
        count();
    }

    void poison() override {
        for (auto* one : {&fx_, &fy_, &fz_})
            std::ranges::fill(*one, std::numeric_limits<double>::quiet_NaN());
    }

    /// Check the forces on the particles of some cells, relative to the sum of the forces of single pairs:
    /// each of these is rounded a dozen times, and each sum of up to 432 of them is rounded as well. Also
    /// check that the sum of all forces is zero.
    [[nodiscard]] Verdict check() override {
        constexpr double roundings = 12.0 + 432.0;
        Comparison forces(roundings * DBL_EPSILON, 1.0), sums(roundings * DBL_EPSILON, 1.0);
        std::size_t compared = 0;
        for (std::size_t cell = 0; cell < cells(); cell += step()) {
            const Cell own = particles_of(cell, work_.edge);
            for (std::size_t i = 0; i < own.count; ++i, ++compared) {
                const auto at = static_cast<std::size_t>(first_[cell]) + i;
                const Pull pull = pull_on(cell, own.at[i]);
                const double found[] = {fx_[at], fy_[at], fz_[at]};
                for (std::size_t axis = 0; axis < 3; ++axis)
                    forces.compare("force over those of all pairs, particle", at,
                                   static_cast<double>(found[axis] / pull.size),
                                   pull.force[axis] / pull.size);
            }
        }
        for (const auto* one : {&fx_, &fy_, &fz_}) {
            long double sum = 0.0L, size = 1.0L;
            for (const double force : *one) {
                sum += force;
                size += std::fabs(static_cast<long double>(force));
            }
            sums.compare("sum of forces over that of their sizes", 0, static_cast<double>(sum / size), 0.0L);
        }
        return all_of({forces.verdict(3 * compared), sums.verdict(3)});
    }

  private:
    /// Force on one particle, in higher precision.
    struct Pull {
        long double force[3] = {0.0L, 0.0L, 0.0L};
        long double size = 1.0L; ///< One, plus the sum of the absolute values of all pairs' forces.
        std::size_t pairs = 0;
    };

    [[nodiscard]] std::size_t cells() const { return work_.edge * work_.edge * work_.edge; }

    /// Return the distance between two checked cells.
    [[nodiscard]] std::size_t step() const { return (cells() + cells_checked - 1) / cells_checked; }

    /// Order the cells along the curve, without positions outside the box.
    void order(std::size_t edge) {
        const std::uint64_t whole = std::bit_ceil(std::max<std::uint64_t>(edge, 1));
        std::size_t k = 0;
        for (std::uint64_t code = 0; k < first_.size() && code < whole * whole * whole; ++code) {
            const auto [x, y, z] = on_curve(code).at;
            if (std::max({x, y, z}) < edge)
                along_[k++] = static_cast<std::int32_t>(x + edge * (y + edge * z));
        }
    }

    void fill() {
#pragma omp parallel for schedule(static)
        for (std::size_t cell = 0; cell < cells(); ++cell) {
            const Cell own = particles_of(cell, work_.edge);
            for (std::size_t i = 0; i < own.count; ++i) {
                const auto at = static_cast<std::size_t>(first_[cell]) + i;
                x_[at] = own.at[i].x;
                y_[at] = own.at[i].y;
                z_[at] = own.at[i].z;
            }
        }
    }

    /// Count the candidate partners of a particle, including itself, and those within the cut-off radius.
    void count() {
        for (std::size_t cell = 0; cell < cells(); ++cell) {
            std::size_t partners = 0;
            for (std::size_t which = 0; which < 27; ++which)
                partners += static_cast<std::size_t>(count_[beside(cell, which).cell]);
            work_.candidates += static_cast<double>(partners) * static_cast<double>(count_[cell]);
        }
        std::size_t pairs = 0, of = 0;
        for (std::size_t cell = 0; cell < cells(); cell += step()) {
            const Cell own = particles_of(cell, work_.edge);
            of += own.count;
            for (std::size_t i = 0; i < own.count; ++i) pairs += pull_on(cell, own.at[i]).pairs;
        }
        if (of)
            work_.pairs =
                static_cast<double>(pairs) / static_cast<double>(of) * static_cast<double>(work_.particles);
    }

    struct Neighbour {
        std::size_t cell;
        Place shift;
    };

    /// Return one of a cell's 27 neighbours, shifted by the length of the box if it lies beyond the border.
    [[nodiscard]] Neighbour beside(std::size_t cell, std::size_t which) const {
        const std::size_t edge = work_.edge;
        const std::size_t at[] = {cell % edge, cell / edge % edge, cell / edge / edge};
        const std::size_t away[] = {which % 3, which / 3 % 3, which / 9};
        std::size_t next[3];
        double shift[3];
        for (std::size_t axis = 0; axis < 3; ++axis) {
            next[axis] = (at[axis] + edge + away[axis] - 1) % edge;
            const auto boxes = static_cast<double>((at[axis] + edge + away[axis] - 1) / edge) - 1.0;
            shift[axis] = boxes * cutoff * static_cast<double>(edge);
        }
        return {next[0] + edge * (next[1] + edge * next[2]), {shift[0], shift[1], shift[2]}};
    }

    /// Compute a force in higher precision, from the particles as generated.
    [[nodiscard]] Pull pull_on(std::size_t cell, const Place& at) const {
        Pull found;
        for (std::size_t which = 0; which < 27; ++which) {
            const auto [number, shift] = beside(cell, which);
            const Cell other = particles_of(number, work_.edge);
            for (std::size_t j = 0; j < other.count; ++j) {
                const long double apart[] = {at.x - (other.at[j].x + shift.x),
                                             at.y - (other.at[j].y + shift.y),
                                             at.z - (other.at[j].z + shift.z)};
                const long double r2 = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
                if (r2 == 0.0L || r2 >= static_cast<long double>(cutoff * cutoff)) continue;
                const long double r6 = r2 * r2 * r2, f = 24.0L * (2.0L / r6 - 1.0L) / (r6 * r2);
                for (std::size_t axis = 0; axis < 3; ++axis) found.force[axis] += f * apart[axis];
                found.size += (48.0L / r6 + 24.0L) / (r6 * r2) * std::sqrt(r2);
                ++found.pairs;
            }
        }
        return found;
    }

    /// Count eight operations for each candidate, and for each pair six for its strength and six for its
    /// force.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.particles);
        const double bytes = 48.0 * n + 12.0 * static_cast<double>(cells());
        return {.flops = 8.0 * work_.candidates + 12.0 * work_.pairs,
                .special = work_.pairs,
                .bytes = bytes,
                .bytes_with_allocate = bytes + 24.0 * n};
    }

    Buffer<double> x_, y_, z_, fx_, fy_, fz_;
    Buffer<std::int64_t> first_;
    Buffer<std::int32_t> count_, along_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::CellList kernel;
    return assay::kernels::program(kernel, argc, argv);
}
