// build: -O2 -fopenmp
#include "kernels/dgemm/work.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/node.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::kernels {

namespace {

/// Numbers of different rows of A and columns of B. The correct C has only `rows` * `columns` different
/// elements, however large it is. Both are primes, so that an exchanged tile or vector contains different
/// rows or columns.
constexpr std::size_t rows = 61;
constexpr std::size_t columns = 67;

/// Return a signed whole number of a few bits, without a pattern (the finalizer of splitmix64).
double datum(std::size_t line, std::size_t p, int bits) {
    std::uint64_t x = (line << 32U) + p + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
    const auto size = static_cast<double>(x >> (64 - bits));
    return x & 1U ? size : -size;
}

/// Return the number of bits of elements. It is so small that no sum of k products needs more than the 53
/// bits of a double, so that the order of summation does not matter, but so large that single precision fails
/// the check.
int bits_for(std::size_t k) {
    return (std::numeric_limits<double>::digits - static_cast<int>(std::bit_width(k))) / 2;
}

const About about_dgemm = {
    "dgemm",
    "Product of two matrices (DGEMM)",
    "article on DGEMM on the Intel Xeon Phi processor (Knights Landing): tiles of 336 by 112, 8 by 28 "
    "elements of C in 28 registers, prefetch 32 iterations ahead into L2, none into L1",
    "multiply-add units, from matrices of about a hundred rows on",
};

class Dgemm final : public KernelOf<Product> {
  public:
    [[nodiscard]] const About& about() const override { return about_dgemm; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        constexpr std::int64_t most = std::int64_t{1} << 20;
        return {{"m", "rows of A and C", 0, 0, most},
                {"n", "columns of B and C", 0, 0, most},
                {"k", "columns of A, rows of B", 0, 0, most},
                {"tile-k", "columns of A and rows of B in a tile", 336, 1, most},
                {"tile-n", "columns of B in a tile", 112, 1, most},
                {"ahead-l2",
                 "distance of prefetch into L2 in iterations, 0 for none (default if all data fit into it)",
                 32, 0, 4096},
                {"ahead-l1", "distance of prefetch into L1 in iterations, 0 for none", 0, 0, 4096},
                {"tile-node", "NUMA node for the packed tiles of B, -1 for any", -1, -1, 1023}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        const std::int64_t sizes[][3] = {{0, 0, 0},      {1, 1, 1},    {7, 7, 7},     {3, 5, 0},
                                         {0, 3, 2},      {8, 28, 336}, {16, 56, 672}, {9, 29, 337},
                                         {115, 225, 50}, {1, 400, 9}};
        for (const auto& [m, n, k] : sizes) found.push_back({{"m", m}, {"n", n}, {"k", k}});
        found.push_back({{"m", 65}, {"n", 113}, {"k", 40}, {"tile-k", 16}, {"tile-n", 30}, {"ahead-l1", 4}});
        found.push_back({{"m", 31}, {"n", 31}, {"k", 31}, {"tile-k", 1}, {"tile-n", 1}, {"ahead-l2", 0}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 24.0));
        for (const char* name : {"m", "n", "k"}) values[name] = side;
        if (bytes <= find_caches(threads()).second) values["ahead-l2"] = 0;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        const auto m = static_cast<double>(values.at("m")), n = static_cast<double>(values.at("n")),
                   k = static_cast<double>(values.at("k"));
        return 8.0 * (m * k + k * n + m * n);
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto size = [&values](const char* name) { return static_cast<std::size_t>(values.at(name)); };
        const std::size_t m = size("m"), n = size("n"), k = size("k");
        const std::size_t tile_k = std::min(size("tile-k"), std::max<std::size_t>(k, 1));
        const std::size_t tile_n = std::min(size("tile-n"), std::max<std::size_t>(n, 1));
        const std::size_t room = tile_k * (tile_n + 32);
        a_ = Buffer<double>(m * k, shift);
        b_ = Buffer<double>(k * n, shift);
        c_ = Buffer<double>(m * n, shift);
        strips_ = Buffer<double>(tile_k * (m + 32));
        tiles_ = Buffer<double>(room * static_cast<std::size_t>(threads()));
        if (const std::int64_t node = values.at("tile-node"); node >= 0)
            place_on_node(tiles_.data(), tiles_.size() * sizeof(double), static_cast<int>(node));
        bits_ = bits_for(k);
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t i = 0; i < m; ++i) a_[i + p * m] = datum(i % rows, p, bits_);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t p = 0; p < k; ++p) b_[p + j * k] = datum(rows + j % columns, p, bits_);
        work_ = {a_.data(), b_.data(),        c_.data(),       m,    n,
                 k,         strips_.data(),   tiles_.data(),   room, tile_k,
                 tile_n,    size("ahead-l2"), size("ahead-l1")};
    }

    void poison() override { std::ranges::fill(c_, std::numeric_limits<double>::quiet_NaN()); }

    [[nodiscard]] Verdict check() override {
        const std::size_t m = work_.m, n = work_.n, k = work_.k;
        const std::size_t high = std::min(m, rows), wide = std::min(n, columns);
        std::vector<std::int64_t> wanted(high * wide);
        for (std::size_t p = 0; p < k; ++p) {
            for (std::size_t j = 0; j < wide; ++j) {
                const auto factor = static_cast<std::int64_t>(datum(rows + j, p, bits_));
                for (std::size_t i = 0; i < high; ++i)
                    wanted[i + j * high] += factor * static_cast<std::int64_t>(a_[i + p * m]);
            }
        }
        Comparison elements(0.0, 0.0);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < m; ++i)
                elements.compare("C", i + j * m, c_[i + j * m],
                                 static_cast<long double>(wanted[i % rows + j % columns * high]));
        return elements.verdict(m * n);
    }

  private:
    /// Count two operations for each of the m n k products. Both factors are read once, and the result is
    /// written once.
    [[nodiscard]] Cost default_cost() const override {
        const auto m = static_cast<double>(work_.m), n = static_cast<double>(work_.n),
                   k = static_cast<double>(work_.k);
        return {.flops = 2.0 * m * n * k,
                .bytes = 8.0 * (m * k + k * n + m * n),
                .bytes_with_allocate = 8.0 * (m * k + k * n + 2.0 * m * n)};
    }

    Buffer<double> a_, b_, c_, strips_, tiles_;
    int bits_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Dgemm kernel;
    return assay::kernels::program(kernel, argc, argv);
}
