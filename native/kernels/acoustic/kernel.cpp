// build: -O3 -fopenmp
#include "kernels/acoustic/reference.hpp"
#include "kernels/acoustic/work.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <vector>

namespace assay::kernels {

namespace {

/// Cells of a row that fit a cache line: rows begin at lines unless --shift moves them.
constexpr std::ptrdiff_t line = 16;

/// Return the coefficients of the second derivative by central differences of order 2 r (B. Fornberg,
/// Generation of finite difference formulas on arbitrarily spaced grids, 1988): c_k = 2 (-1)^(k+1) (r!)^2 /
/// (k^2 (r-k)! (r+k)!). The coefficient of the cell itself makes their sum zero.
std::array<float, radius + 1> coefficients() {
    std::array<float, radius + 1> c{};
    double ratio = -2.0, sum = 0.0;
    for (std::ptrdiff_t k = 1; k <= radius; ++k) {
        ratio *= -static_cast<double>(radius - k + 1) / static_cast<double>(radius + k);
        const double one = ratio / static_cast<double>(k * k);
        sum += one;
        c[static_cast<std::size_t>(k)] = static_cast<float>(one);
    }
    c[0] = static_cast<float>(-3.0 * 2.0 * sum);
    return c;
}

/// Return a number with so few bits that the product of two is an exact float. Its absolute value is at least
/// 0.5.
double datum(std::size_t number, std::ptrdiff_t i) {
    const std::uint64_t x =
        mixed((static_cast<std::uint64_t>(number) << 40U) + static_cast<std::uint64_t>(i));
    const double size = 0.5 + static_cast<double>(x >> 54U) / 2048.0;
    return x & 1U ? size : -size;
}

/// Return a speed for which steps are stable: below 4 divided by the largest eigenvalue of the Laplacian,
/// which is below 22.
float speed_of(std::ptrdiff_t number) {
    return static_cast<float>(
        0.02 + 0.15 * static_cast<double>(mixed(static_cast<std::uint64_t>(number)) >> 40U) / 16777216.0);
}

constexpr std::ptrdiff_t float_bytes = sizeof(float);

/// Narrowest block: a narrower one would read more cells around itself than it contains.
constexpr std::ptrdiff_t min_rows = 32;

/// Largest number of cells for which the check steps each cell by itself.
constexpr std::ptrdiff_t cells_one_by_one = 1 << 17;

/// Layout of the three arrays in memory.
struct Layout {
    std::ptrdiff_t nx, ny, nz, row, plane;

    explicit Layout(const Values& values) : nx(values.at("nx")), ny(values.at("ny")), nz(values.at("nz")) {
        row = (nx + line - 1) / line * line + line;
        plane = row * (ny + 2 * radius);
        // An odd number of cache lines, so that the same cell of many planes is not mapped to only a few sets
        // of a cache.
        if (plane / line % 2 == 0) plane += line;
    }

    /// Offset of cell (0, 0, 0).
    [[nodiscard]] std::ptrdiff_t origin() const { return radius * (plane + row) + line; }
    [[nodiscard]] std::ptrdiff_t elements() const { return plane * (nz + 2 * radius) + 2 * line; }
    [[nodiscard]] double bytes() const { return 3.0 * sizeof(float) * static_cast<double>(elements()); }
};

const About about_acoustic = {
    "acoustic",
    "3-D acoustic finite differences",
    "article on a 3D isotropic acoustic finite-difference code: second order in time, order 16 in space, "
    "optimised for a Xeon and a Xeon Phi",
    "memory bandwidth: 61 operations and at least 16 bytes for each cell and step; several steps in one pass "
    "move 20 bytes in all, and then the cores are the limit",
    true,
    true,
};

class Acoustic final : public KernelOf<Wave> {
  public:
    [[nodiscard]] const About& about() const override { return about_acoustic; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        constexpr std::int64_t maximum = 1 << 14;
        return {
            {"nx", "cells of a row", 0, 0, maximum},
            {"ny", "rows of a plane", 0, 0, maximum},
            {"nz", "planes", 0, 0, maximum},
            {"steps", "time steps of one repetition", 8, 1, 16},
            {"block-y", "rows of a block, 0 for as many as the second-level cache holds", 0, 0, maximum},
            {"block-z", "planes of a block, 0 for one block per thread", 0, 0, maximum},
            {"together", "time steps in one pass over the grid, 0 for as many as a cache holds", 0, 0, 16},
            {"band", "rows of such a pass, 0 for as many as a cache holds", 0, 0, maximum},
            {"first-touch", "1: each thread writes its own data first; 0: one thread writes all", 1, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        const std::int64_t sizes[][3] = {{0, 0, 0},   {1, 1, 1}, {7, 7, 7},    {16, 4, 4},
                                         {17, 9, 13}, {5, 0, 3}, {40, 19, 23}, {1, 30, 2}};
        for (const auto& [nx, ny, nz] : sizes) found.push_back({{"nx", nx}, {"ny", ny}, {"nz", nz}});
        found.push_back({{"nx", 33}, {"ny", 21}, {"nz", 18}, {"steps", 1}});
        found.push_back({{"nx", 33},
                         {"ny", 21},
                         {"nz", 18},
                         {"steps", 3},
                         {"block-y", 5},
                         {"block-z", 3},
                         {"first-touch", 0}});
        found.push_back({{"nx", 20}, {"ny", 35}, {"nz", 30}, {"steps", 5}, {"together", 3}, {"band", 6}});
        found.push_back({{"nx", 9}, {"ny", 50}, {"nz", 11}, {"steps", 16}, {"together", 16}, {"band", 17}});
        // Large enough for a check against the closed form.
        found.push_back({{"nx", 50}, {"ny", 53}, {"nz", 51}, {"steps", 4}, {"together", 2}, {"band", 24}});
        return found;
    }

    /// Return a cube. If it is large, its edge is a multiple of a vector's length.
    void fit(Values& values, std::int64_t bytes) const override {
        const auto takes = [&values](std::int64_t side) {
            Values other = values;
            for (const char* name : {"nx", "ny", "nz"}) other[name] = side;
            return Layout(other).bytes();
        };
        // At least the reach of one cell in each direction, so that neighbours are cells as well.
        std::int64_t side = 2 * radius + 4;
        while (takes(side + 1) <= static_cast<double>(bytes)) ++side;
        if (side > 2 * line) side = side / line * line;
        for (const char* name : {"nx", "ny", "nz"}) values[name] = side;
    }

    [[nodiscard]] double bytes(const Values& values) const override { return Layout(values).bytes(); }

    void prepare(const Values& values, std::size_t shift) override {
        const Layout layout(values);
        const auto elements = static_cast<std::size_t>(layout.elements());
        for (auto* array : {&now_, &before_, &speed_}) *array = Buffer<float>(elements, shift);
        work_.now = now_.data() + layout.origin();
        work_.before = before_.data() + layout.origin();
        work_.speed = speed_.data() + layout.origin();
        work_.nx = layout.nx, work_.ny = layout.ny, work_.nz = layout.nz;
        work_.row = layout.row, work_.plane = layout.plane;
        work_.steps = values.at("steps");
        std::ranges::copy(coefficients(), work_.c);
        choose_blocks(values);
        touches_ = values.at("first-touch") != 0;
        setting_ = setting();
        restore();
        lay(speed_, [this](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
            return static_cast<float>(setting_.speed_at(x, y, z));
        });
    }

    void restore() override {
        for (std::size_t one : {0U, 1U})
            lay(one == 0 ? now_ : before_, [this, one](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
                return static_cast<float>(setting_.along[one][index(x)] *
                                          setting_.across[index(y + work_.ny * z)]);
            });
    }

    /// Nothing to invalidate: a repetition overwrites its input, which is not a valid result.
    void poison() override {}

    /// Each step rounds a sum whose terms add up to about a dozen times the largest value, and propagates the
    /// errors of the two steps before it like a wave.
    [[nodiscard]] Verdict check() override {
        const auto steps = static_cast<double>(work_.steps);
        Comparison fields(FLT_EPSILON * (12.0 + 6.0 * steps), 1.0);
        const auto wanted = reference(setting_, work_.steps);
        const bool odd = work_.steps % 2 != 0;
        const std::array<const float*, 2> found = {odd ? work_.before : work_.now,
                                                   odd ? work_.now : work_.before};
        std::array<std::vector<double>, 2> rows;
        for (auto& row : rows) row.resize(index(work_.nx));
        for (std::ptrdiff_t z = 0; z < work_.nz; ++z) {
            for (std::ptrdiff_t y = 0; y < work_.ny; ++y) {
                wanted->rows(y, z, rows);
                const std::ptrdiff_t at = y * work_.row + z * work_.plane;
                for (std::size_t one : {0U, 1U})
                    for (std::ptrdiff_t x = 0; x < work_.nx; ++x)
                        fields.compare(one == 0 ? "u" : "u of the step before",
                                       index(x + work_.nx * (y + work_.ny * z)), found[one][at + x],
                                       rows[one][index(x)]);
            }
        }
        return fields.verdict(2 * index(work_.nx * work_.ny * work_.nz));
    }

  private:
    /// Count two fields and the speed as read, and one field as written.
    [[nodiscard]] Cost default_cost() const override {
        const double cells = static_cast<double>(work_.nx) * static_cast<double>(work_.ny) *
                             static_cast<double>(work_.nz) * static_cast<double>(work_.steps);
        return {.flops = 61.0 * cells, .bytes = 16.0 * cells, .bytes_with_allocate = 16.0 * cells};
    }

    static std::size_t index(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

    /// Derive missing parameters from the caches.
    void choose_blocks(const Values& values) {
        const auto given = [&values](const char* name, std::ptrdiff_t other) {
            const auto value = static_cast<std::ptrdiff_t>(values.at(name));
            return std::max<std::ptrdiff_t>(value != 0 ? value : other, 1);
        };
        const std::ptrdiff_t team = threads();
        // Half of the cache: streaming data and other processes use the rest.
        const auto rows =
            static_cast<std::ptrdiff_t>(find_caches(threads()).last) / 2 / float_bytes / work_.row;
        work_.block_z = given("block-z", (work_.nz + team - 1) / team);
        work_.block_y = given("block-y", block_rows(team));
        work_.together = std::min(given("together", steps_of_pass(rows)), work_.steps);
        work_.band = given("band", band_of(rows, work_.together));
    }

    /// Return the height of a block: the number of rows, in all planes of u that a cell reads, that fit a
    /// thread's second-level cache.
    [[nodiscard]] std::ptrdiff_t block_rows(std::ptrdiff_t team) const {
        constexpr std::ptrdiff_t planes = 2 * radius + 1;
        const auto cache = static_cast<std::ptrdiff_t>(find_caches(threads()).second) / team;
        const std::ptrdiff_t maximum = std::max(cache / float_bytes / work_.row / planes, min_rows);
        const std::ptrdiff_t blocks = (work_.ny + maximum - 1) / maximum;
        return blocks == 0 ? maximum : (work_.ny + blocks - 1) / blocks;
    }

    /// Return the number of planes of all arrays in use at a time: one tile of each step, the cells around it
    /// that it reads, and the planes between one step and the next.
    static std::ptrdiff_t planes_held(std::ptrdiff_t steps) {
        constexpr std::ptrdiff_t tile = 4;
        return 3 * (tile + radius * (steps - 1)) + 2 * radius;
    }

    /// Return the number of rows that the cache holds for several steps, excluding the rows read around them.
    /// For one step, return all rows.
    [[nodiscard]] std::ptrdiff_t band_of(std::ptrdiff_t rows, std::ptrdiff_t steps) const {
        if (steps == 1) return work_.ny;
        return std::min(rows / planes_held(steps) - radius * (steps + 1), work_.ny);
    }

    /// Return the number of steps in one pass: up to four, as long as bands are wider than the margins read
    /// around them. It is one if no band is that wide, or if all data stay in the cache.
    ///
    /// \param rows number of rows of one plane of one array that fit the cache.
    [[nodiscard]] std::ptrdiff_t steps_of_pass(std::ptrdiff_t rows) const {
        constexpr std::ptrdiff_t maximum = 4;
        if (3 * work_.ny * work_.nz <= rows) return 1;
        for (std::ptrdiff_t steps = maximum; steps > 1; --steps) {
            const std::ptrdiff_t around = radius * (steps + 1);
            if (band_of(rows, steps) >= std::min(work_.ny, 2 * around)) return steps;
        }
        return 1;
    }

    [[nodiscard]] Setting setting() const {
        Setting s{work_.nx, work_.ny, work_.nz, {}, {}, {}, speed_of, false};
        s.everywhere = work_.nx * work_.ny * work_.nz <= cells_one_by_one;
        std::ranges::copy(work_.c, s.c.begin());
        for (std::ptrdiff_t x = 0; x < work_.nx; ++x)
            for (std::size_t one : {0U, 1U}) s.along[one].push_back(datum(one, x));
        for (std::ptrdiff_t i = 0; i < work_.ny * work_.nz; ++i) s.across.push_back(datum(2, i));
        return s;
    }

    /// Write an array with its margins.
    template <class Cell>
    void lay(const Buffer<float>& array, Cell cell) const {
        const std::ptrdiff_t nx = work_.nx, ny = work_.ny, nz = work_.nz, row = work_.row,
                             plane = work_.plane;
        float* const first = array.data() + radius * plane;
        std::fill(array.begin(), first, 0.0F);
        std::fill(first + nz * plane, array.end(), 0.0F);
#pragma omp parallel for schedule(static) if (touches_)
        for (std::ptrdiff_t z = 0; z < nz; ++z) {
            float* const to = first + z * plane;
            std::fill_n(to, plane, 0.0F);
            for (std::ptrdiff_t y = 0; y < ny; ++y)
                for (std::ptrdiff_t x = 0; x < nx; ++x) to[(y + radius) * row + line + x] = cell(x, y, z);
        }
    }

    Buffer<float> now_, before_, speed_;
    Setting setting_{};
    bool touches_ = true;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Acoustic kernel;
    return assay::kernels::program(kernel, argc, argv);
}
