// build: -O3 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/integral-tiles/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace assay::kernels {

namespace {

/// Return a number whose absolute value is from 0.5 to 1, so that a missing integral is noticed.
double datum(std::uint64_t number) {
    const std::uint64_t drawn = mixed(number);
    const double size = 0.5 + static_cast<double>(drawn >> 12U) * 0x1p-53;
    return drawn & 1U ? size : -size;
}

double density(std::size_t at) {
    return datum(~static_cast<std::uint64_t>(at));
}

const About about_tiles = {
    .name = "integral-tiles",
    .title =
        "A tensor of four indices, in tiles, contracted with a matrix in two ways (Coulomb and exchange)",
    .source = "evaluation of Intel Memory Drive Technology for scientific applications: the kernel of GAMESS "
              "for two-electron integrals",
    .bound = "the memory level that holds the integrals: four operations for each, which is read once",
};

class IntegralTiles final : public KernelOf<Contraction> {
  public:
    [[nodiscard]] const About& about() const override { return about_tiles; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "functions: range of each index", 0, 0, 1024},
                {"tile", "range of each index in a tile", 16, 1, 64}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 2, 5, 16, 19}) found.push_back({{"n", n}, {"tile", 16}});
        for (const std::int64_t tile : {1, 7, 11, 64}) found.push_back({{"n", 23}, {"tile", tile}});
        // If there are more elements, only a part is checked.
        found.push_back({{"n", 41}, {"tile", 8}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        const auto takes = [this, &values](std::int64_t n) {
            Values other = values;
            other["n"] = n;
            return this->bytes(other);
        };
        std::int64_t n = 0;
        while (n < 1024 && takes(n + 1) <= static_cast<double>(bytes)) ++n;
        values["n"] = std::max<std::int64_t>(n, 1);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        const auto n = static_cast<double>(values.at("n"));
        return 8.0 * (n * n * n * n + 3.0 * n * n);
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        integrals_ = Buffer<double>(n * n * n * n, shift);
        for (auto* one : {&density_, &coulomb_, &exchange_}) *one = Buffer<double>(n * n, shift);
        work_ = {integrals_.data(),
                 density_.data(),
                 coulomb_.data(),
                 exchange_.data(),
                 n,
                 static_cast<std::size_t>(values.at("tile"))};
        for (std::size_t at = 0; at < n * n; ++at) density_[at] = density(at);
        fill();
    }

    void poison() override {
        for (auto* one : {&coulomb_, &exchange_})
            std::ranges::fill(*one, std::numeric_limits<double>::quiet_NaN());
    }

    /// Check elements of both matrices (all of them in small matrices), relative to the sum of their terms'
    /// absolute values. In any order of the n^2 additions, each rounds by at most half a unit in the last
    /// place.
    [[nodiscard]] Verdict check() override {
        const std::size_t n = work_.n, elements = n * n;
        const std::size_t step = elements <= checked ? 1 : elements / checked | 1U;
        const double allowed = DBL_EPSILON * static_cast<double>(elements + 1);
        Comparison sums(allowed, 1.0);
        std::size_t compared = 0;
        for (std::size_t at = 0; at < elements; at += step, ++compared) {
            const std::size_t a = at / n, b = at % n;
            long double coulomb = 0.0L, exchange = 0.0L, sizes[2] = {0.0L, 0.0L};
            for (std::size_t p = 0; p < n; ++p)
                for (std::size_t q = 0; q < n; ++q) {
                    const long double one =
                        static_cast<long double>(integral(a, b, p, q)) * density(p * n + q);
                    const long double other =
                        static_cast<long double>(integral(a, p, b, q)) * density(p * n + q);
                    coulomb += one;
                    exchange += other;
                    sizes[0] += std::fabs(one);
                    sizes[1] += std::fabs(other);
                }
            sums.compare("J over the sizes of its terms, element", at,
                         static_cast<double>(coulomb_[at] / sizes[0]), coulomb / sizes[0]);
            sums.compare("K over the sizes of its terms, element", at,
                         static_cast<double>(exchange_[at] / sizes[1]), exchange / sizes[1]);
        }
        // Elements that are not computed again must at least be finite.
        for (std::size_t at = 0; at < elements; ++at)
            if (!std::isfinite(coulomb_[at] + exchange_[at]))
                return {false, std::numeric_limits<double>::max(),
                        "element " + std::to_string(at) + " of a matrix is not a number"};
        return sums.verdict(2 * compared);
    }

  private:
    /// Approximate number of elements to check; each is a sum of n^2 terms.
    static constexpr std::size_t checked = 600;

    [[nodiscard]] double integral(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
        const std::size_t n = work_.n;
        return datum(((i * n + j) * n + k) * n + l);
    }

    /// Initialise with the threads that process the rows of tiles, for first touch.
    void fill() {
        const std::size_t n = work_.n, side = work_.tile;
#pragma omp parallel for schedule(static)
        for (std::size_t i0 = 0; i0 < n; i0 += side) {
            double* to = integrals_.data() + i0 * n * n * n;
            for (std::size_t j0 = 0; j0 < n; j0 += side)
                for (std::size_t k0 = 0; k0 < n; k0 += side)
                    for (std::size_t l0 = 0; l0 < n; l0 += side)
                        for (std::size_t i = i0; i < std::min(i0 + side, n); ++i)
                            for (std::size_t j = j0; j < std::min(j0 + side, n); ++j)
                                for (std::size_t k = k0; k < std::min(k0 + side, n); ++k)
                                    for (std::size_t l = l0; l < std::min(l0 + side, n); ++l)
                                        *to++ = integral(i, j, k, l);
        }
    }

    /// Count a multiplication and an addition of each integral for each matrix.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        const double bytes = 8.0 * (n * n * n * n + 3.0 * n * n);
        return {.flops = 4.0 * n * n * n * n, .bytes = bytes, .bytes_with_allocate = bytes + 16.0 * n * n};
    }

    Buffer<double> integrals_, density_, coulomb_, exchange_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::IntegralTiles kernel;
    return assay::kernels::program(kernel, argc, argv);
}
