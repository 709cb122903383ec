// build: -O2 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/lu/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// A multiple of the rows of strips on all processors.
constexpr std::size_t unit = 24;

std::size_t up(std::size_t count, std::size_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

/// Return a number from -1 to 1, without a pattern. The first element is zero, so that the first column needs
/// an exchange.
double datum(std::size_t i, std::size_t j) {
    if (i == 0 && j == 0) return 0.0;
    return static_cast<double>(static_cast<std::int64_t>(mixed(i + (j << 32U)))) * 0x1p-63;
}

/// Return 1 or -1, so that an error in one element of a row is not hidden by the size of another element.
double sign(std::size_t number, std::size_t j) {
    return mixed(~(j + (number << 32U))) & 1U ? 1.0 : -1.0;
}

const About about_lu = {
    .name = "lu",
    .title = "Factors of a matrix (LU with partial pivoting)",
    .source = "evaluation of Intel Memory Drive Technology for scientific applications: factorisation by "
              "panels is slow if the matrix takes more than 150 % of memory, by tiles it is not",
    .bound = "multiply-add units, since the rest of the matrix is updated by a matrix product; for small "
             "matrices the panels, whose pivots depend on each other",
    .in_place = true,
};

class Lu final : public KernelOf<Matrix> {
  public:
    [[nodiscard]] const About& about() const override { return about_lu; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        constexpr std::int64_t most = std::int64_t{1} << 20;
        return {
            {"n", "rows and columns", 0, 0, most},
            {"tile",
             "columns of a panel and sides of a tile, rounded to a multiple of 24; 0 to choose by the size",
             0, 0, 4096},
            {"zero-column", "number of a column of zeros, from 1; 0 for none", 0, 0, most}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 2, 7, 24, 97, 193}) found.push_back({{"n", n}, {"tile", 0}});
        for (const std::int64_t n : {25, 48, 71, 150}) found.push_back({{"n", n}, {"tile", 24}});
        found.push_back({{"n", 331}, {"tile", 72}});
        found.push_back({{"n", 50}, {"tile", 240}});
        found.push_back({{"n", 1}, {"tile", 0}, {"zero-column", 1}});
        for (const std::int64_t column : {1, 20, 30, 100})
            found.push_back({{"n", 100}, {"tile", 48}, {"zero-column", column}});
        return found;
    }

    /// Choose the size for the matrix and its copy in tiles.
    void fit(Values& values, std::int64_t bytes) const override {
        values["n"] = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 16.0));
    }

    /// Add the space for panels and tiles of the requested size, which may be larger than the matrix.
    [[nodiscard]] double bytes(const Values& values) const override {
        const auto n = static_cast<double>(values.at("n")), tile = static_cast<double>(values.at("tile"));
        return 16.0 * n * n + 8.0 * (tile * tile * threads() + 2.0 * tile * n);
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        zero_column_ = static_cast<std::size_t>(values.at("zero-column"));
        if (zero_column_ > n)
            throw UsageError("--zero-column " + std::to_string(zero_column_) + ": there are " +
                             std::to_string(n) + " columns");
        const auto wanted = static_cast<std::size_t>(values.at("tile"));
        const std::size_t tile = up(wanted ? wanted : suitable(n), unit), along = up(n, tile);
        const std::size_t panel = up(n, unit) * tile, room = tile * tile;
        a_ = Buffer<double>(n * n, shift);
        exchanged_ = Buffer<std::int64_t>(n);
        panels_ = Buffer<double>(2 * panel);
        orders_ = Buffer<std::size_t>(2 * n);
        rows_ = Buffer<double>(room * static_cast<std::size_t>(threads()));
        tiles_ = Buffer<double>(along * along);
        work_ = {a_.data(),      n,     exchanged_.data(), &singular_, tile,         panels_.data(),
                 orders_.data(), panel, rows_.data(),      room,       tiles_.data()};
    }

    void restore() override {
        const std::size_t n = work_.n;
        // First touch by the threads that process the columns.
#pragma omp parallel for schedule(static)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < n; ++i) a_[i + j * n] = given(i, j);
    }

    void poison() override {
        std::ranges::fill(exchanged_, -1);
        singular_ = -1;
    }

    /// Check products of both sides with vectors, since the product of L and U would take as long as the
    /// factorisation.
    [[nodiscard]] Verdict check() override {
        const auto n = static_cast<std::int64_t>(work_.n);
        for (std::int64_t j = 0; j < n; ++j)
            if (const std::int64_t row = exchanged_[static_cast<std::size_t>(j)]; row < j || row >= n)
                return wrong("row " + std::to_string(j) + " is exchanged with row " + std::to_string(row));
        if (singular_ != without_pivot())
            return wrong("the first column without a pivot is " + std::to_string(without_pivot()) +
                         ", and not " + std::to_string(singular_));
        if (const std::string message = too_large(); !message.empty()) return wrong(message);
        return all_of({difference(0), difference(1)});
    }

  private:
    static Verdict wrong(const std::string& message) {
        return {false, std::numeric_limits<double>::max(), message};
    }

    /// Return the width of a panel: large enough for a fast update, small enough for a fast factorisation of
    /// the panel.
    static std::size_t suitable(std::size_t n) {
        constexpr std::size_t most = 120;
        return std::clamp<std::size_t>(n / 8, unit, most);
    }

    [[nodiscard]] double given(std::size_t i, std::size_t j) const {
        return j + 1 == zero_column_ ? 0.0 : datum(i, j);
    }

    /// Return the first column that has to be without a pivot.
    [[nodiscard]] std::int64_t without_pivot() const {
        if (zero_column_) return static_cast<std::int64_t>(zero_column_) - 1;
        return work_.n == 1 ? 0 : static_cast<std::int64_t>(work_.n);
    }

    /// Return an error for an element of L that is larger than 1 in absolute value: it was not divided by the
    /// largest element. Two roundings are allowed, since LAPACK multiplies by the reciprocal.
    [[nodiscard]] std::string too_large() const {
        const std::size_t n = work_.n;
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = j + 1; i < n; ++i)
                if (!(std::fabs(a_[i + j * n]) <= 1.0 + 2.0 * DBL_EPSILON))
                    return "L has " + std::to_string(a_[i + j * n]) + " at row " + std::to_string(i) +
                           ", column " + std::to_string(j);
        return "";
    }

    /// Compare the largest element of P A x - L (U x) with n eps times the largest sum of a row of A.
    /// LAPACK's own tests allow 30 times as much (dget01).
    [[nodiscard]] Verdict difference(std::size_t number) const {
        const std::size_t n = work_.n;
        std::vector<long double> wanted(n), upper(n), found(n), sizes(n);
        for (std::size_t j = 0; j < n; ++j) {
            const auto x = static_cast<long double>(sign(number, j));
            const double* const column = a_.data() + j * n;
            for (std::size_t i = 0; i < n; ++i) {
                const auto one = static_cast<long double>(given(i, j));
                wanted[i] += one * x;
                sizes[i] += std::fabs(one);
            }
            for (std::size_t i = 0; i <= j; ++i) upper[i] += column[i] * x;
        }
        for (std::size_t j = 0; j < n; ++j) {
            const double* const column = a_.data() + j * n;
            found[j] += upper[j];
            for (std::size_t i = j + 1; i < n; ++i) found[i] += column[i] * upper[j];
        }
        for (std::size_t j = 0; j < n; ++j)
            std::swap(wanted[j], wanted[static_cast<std::size_t>(exchanged_[j])]);
        const long double largest = n ? *std::ranges::max_element(sizes) : 0.0L;
        Comparison rows(static_cast<double>(n) * DBL_EPSILON, static_cast<double>(largest));
        for (std::size_t i = 0; i < n; ++i)
            rows.compare("P A x - L U x, row", i, static_cast<double>(found[i] - wanted[i]), 0.0L);
        return rows.verdict(n);
    }

    /// Count the division of each column, and two operations for each element from which it is subtracted:
    /// 2/3 n^3 for large n. All elements are read and written at least once.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        const double bytes = 16.0 * n * n;
        return {.flops = n * (n - 1.0) * (2.0 * n - 1.0) / 3.0,
                .special = n * (n - 1.0) / 2.0,
                .bytes = bytes,
                .bytes_with_allocate = bytes};
    }

    Buffer<double> a_, panels_, rows_, tiles_;
    Buffer<std::int64_t> exchanged_;
    Buffer<std::size_t> orders_;
    std::int64_t singular_ = -1;
    std::size_t zero_column_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Lu kernel;
    return assay::kernels::program(kernel, argc, argv);
}
