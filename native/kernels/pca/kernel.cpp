// build: -O3 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/pca/cost.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace assay::kernels {

namespace {

/// Number of observations after which they repeat, a prime. Sums over all observations follow from sums over
/// these.
constexpr std::size_t distinct = 2053;
/// Number of common factors of all features, which are directions with more than noise.
constexpr std::size_t factors = 5;
constexpr std::size_t line = 8;
/// Default number of features, if they fit.
constexpr std::int64_t default_features = 100;

/// Return an approximately normal number without a pattern, with mean 0 and variance 1.
double noise(std::size_t i, std::size_t j) {
    const std::uint64_t bits = mixed((i << 24U) + j);
    double sum = 0.0;
    for (unsigned part = 0; part < 4; ++part)
        sum += static_cast<double>((bits >> (16 * part)) & 0xffffU) / 65536.0 - 0.5;
    return sum * std::sqrt(3.0);
}

/// Return whether a feature is the same in every observation.
bool constant(std::size_t j) {
    return j % 61 == 3;
}

/// Return feature j of observation i. Spreads are from 2^-10 to 2^10, and means are up to 10^6 times as
/// large.
double datum(std::size_t i, std::size_t j) {
    const double spread = std::ldexp(1.0, static_cast<int>(j * 7 % 21) - 10);
    const double mean = spread * std::pow(10.0, static_cast<double>(j * 5 % 7)) * (j % 2 ? -1.1 : 1.1);
    if (constant(j)) return mean;
    double found = noise(i, j + factors);
    for (std::size_t f = 0; f < factors; ++f) found += noise(f, j) * noise(i, f) / static_cast<double>(f + 1);
    return mean + spread * found;
}

const About about_pca = {
    "pca",
    "Principal components by correlation and by singular values",
    "article on Intel DAAL's principal component analysis, by correlation and by singular value "
    "decomposition; it gives no figure",
    "multiply-add units from about 60 features on (features / 8 operations for each byte read), memory "
    "below; the eigenvalue problem with few observations",
};

class Pca final : public KernelOf<Components> {
  public:
    [[nodiscard]] const About& about() const override { return about_pca; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "observations", 0, 0, std::int64_t{1} << 40},
                {"p", "features (default: 100, or as many as fit)", 0, 0, 1 << 14},
                {"block", "observations in a block, 0 for a quarter of a core's L2", 0, 0, 1 << 16}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        const std::int64_t sizes[][2] = {{0, 0}, {0, 5}, {100, 0}, {1, 7},    {2, 3},   {7, 1},    {9, 8},
                                         {7, 9}, {3, 2}, {97, 13}, {257, 33}, {40, 67}, {2500, 26}};
        for (const auto& [n, p] : sizes) found.push_back({{"n", n}, {"p", p}});
        found.push_back({{"n", 100}, {"p", 25}, {"block", 1}});
        found.push_back({{"n", 101}, {"p", 5}, {"block", 7}});
        found.push_back({{"n", 300}, {"p", 261}, {"block", 100}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        // At least eight observations for each feature, and the matrices of p features.
        const double matrices = 8.0 * (5.0 + threads());
        if (values["p"] == 0) {
            const auto most =
                static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / (128.0 + matrices)));
            values["p"] = std::clamp(most, std::int64_t{1}, default_features);
        }
        const auto p = static_cast<double>(values["p"]);
        const double rest = static_cast<double>(bytes) - matrices * p * p;
        values["n"] = static_cast<std::int64_t>(std::max(rest, 0.0) / (16.0 * std::max(p, 1.0)));
    }

    /// Count data and their copy, results and intermediate matrices, and means and scratch memory for the
    /// requested blocks, which may be many or large.
    [[nodiscard]] double bytes(const Values& values) const override {
        const auto n = static_cast<double>(values.at("n")), p = static_cast<double>(values.at("p"));
        const auto block = static_cast<double>(values.at("block"));
        const double blocks = block > 0.0 ? n / block + block * threads() : 0.0;
        return 16.0 * n * p + 8.0 * (4.0 + threads()) * p * p + 8.0 * p * blocks;
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n")), p = static_cast<std::size_t>(values.at("p"));
        auto block = static_cast<std::size_t>(values.at("block"));
        if (block == 0) block = default_block(p);
        const std::size_t blocks = (n + block - 1) / block, wide = (p + line - 1) / line * line;
        // One cache line more than slices need, so that rows do not all begin in the same set of a cache.
        const std::size_t across = (p + slice - 1) / slice * slice + line;
        const auto teams = static_cast<std::size_t>(threads());
        x_ = Buffer<double>(n * p, shift);
        values_ = Buffer<double>(p, shift);
        vectors_ = Buffer<double>(p * p, shift);
        scores_ = Buffer<double>(n * p);
        matrix_ = Buffer<double>(p * p);
        means_ = Buffer<double>((blocks + 1) * p);
        spreads_ = Buffer<double>(p);
        tiles_ = Buffer<double>((block + 1) * wide * teams);
        sums_ = Buffer<double>(wide * wide * teams);
        basis_ = Buffer<double>(across * p);
        own_ = Buffer<double>(own_each * p);
        order_ = Buffer<std::size_t>(p);
        const std::size_t several = std::min(n, distinct);
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < several; ++i)
            for (std::size_t j = 0; j < p; ++j) x_[i * p + j] = datum(i, j);
#pragma omp parallel for schedule(static)
        for (std::size_t i = several; i < n; ++i)
            std::copy_n(x_.data() + i % distinct * p, p, x_.data() + i * p);
        work_ = {x_.data(),
                 n,
                 p,
                 values_.data(),
                 vectors_.data(),
                 scores_.data(),
                 matrix_.data(),
                 means_.data(),
                 spreads_.data(),
                 block,
                 blocks,
                 wide,
                 tiles_.data(),
                 sums_.data(),
                 basis_.data(),
                 across,
                 own_.data(),
                 order_.data()};
        wanted_.clear();
    }

    void poison() override {
        std::ranges::fill(values_, std::numeric_limits<double>::quiet_NaN());
        std::ranges::fill(vectors_, std::numeric_limits<double>::quiet_NaN());
    }

    /// Check that C v - l v is zero for each vector v and its value l, where C is the correlation matrix by
    /// means and sums in extended precision, that vectors are orthonormal, and that values are in order. Then
    /// each value is as close to an eigenvalue as C v - l v is to zero, and no eigenvalue occurs twice (B.
    /// Parlett, The Symmetric Eigenvalue Problem, 4.5). Signs, and the base of a space with several equal
    /// values, do not matter.
    ///
    /// Allowed errors are those of sums of n terms (a few times sqrt(n) u for each correlation, with u the
    /// unit in the last place; N. Higham, T. Mary, SISC 41 (2019)) and of an orthogonal reduction of p steps
    /// (p u |C|; J. Wilkinson, The Algebraic Eigenvalue Problem). If there are many vectors, only some are
    /// checked.
    [[nodiscard]] Verdict check() override {
        const std::size_t p = work_.p;
        if (p == 0) return {true, 0.0, ""};
        find_wanted();
        const double allowed =
            DBL_EPSILON * (8.0 * std::sqrt(static_cast<double>(work_.n)) + 16.0 * static_cast<double>(p));
        const double scale = std::max(eigenvalue_bound_, 1.0);
        const std::size_t apart = (p + max_checked - 1) / max_checked;
        Comparison order(0.0, 0.0), residual(allowed, scale), units(allowed, 1.0),
            trace(allowed, static_cast<double>(p));
        long double sum = 0.0L;
        for (std::size_t i = 0; i < p; ++i) {
            sum += values_[i];
            const double rise = i && !(values_[i] <= values_[i - 1]) ? values_[i] - values_[i - 1] : 0.0;
            order.compare("rise from the value before to value", i, rise, 0.0L);
        }
        trace.compare("sum of values", 0, static_cast<double>(sum),
                      static_cast<long double>(features_with_spread_));
        std::size_t compared = 0;
        for (std::size_t i = 0; i < p; i += apart, ++compared) {
            const double* const v = vectors_.data() + i * p;
            for (std::size_t j = 0; j < p; ++j) {
                residual.compare("C v", i * p + j, product(wanted_.data() + j * p, v, p),
                                 static_cast<long double>(values_[i]) * v[j]);
                units.compare("product of vectors", i * p + j, product(vectors_.data() + j * p, v, p),
                              i == j ? 1.0L : 0.0L);
            }
        }
        return all_of({order.verdict(p), trace.verdict(1), residual.verdict(compared * p),
                       units.verdict(compared * p)});
    }

  private:
    static constexpr std::size_t max_checked = 256;

    /// Return the number of observations of a block: so many that sums are rarely written, but so few that
    /// the block fits a core's second-level cache together with its strips and the next block.
    static std::size_t default_block(std::size_t p) {
        constexpr std::size_t min_block = 64, max_block = 256;
        const auto quarter = static_cast<std::size_t>(find_caches(1).second) / 4;
        return std::clamp(quarter / (sizeof(double) * std::max<std::size_t>(p, 1)) / line * line, min_block,
                          max_block);
    }

    /// Compute correlations by sums in extended precision over the different observations, each multiplied by
    /// its number of occurrences.
    void find_wanted() {
        const std::size_t n = work_.n, p = work_.p, several = std::min(n, distinct);
        if (!wanted_.empty()) return;
        wanted_.assign(p * p, 0.0);
        std::vector<double> columns(p * several);
        std::vector<long double> squares(p);
        const auto times = [n](std::size_t i) {
            return static_cast<long double>(n / distinct + (i < n % distinct));
        };
#pragma omp parallel for schedule(static)
        for (std::size_t j = 0; j < p; ++j) {
            double* const column = columns.data() + j * several;
            long double sum = 0.0L;
            for (std::size_t i = 0; i < several; ++i)
                sum += times(i) * (static_cast<long double>(x_[i * p + j]) - x_[j]);
            const long double mean = several ? x_[j] + sum / static_cast<long double>(n) : 0.0L;
            for (std::size_t i = 0; i < several; ++i)
                column[i] = static_cast<double>(std::sqrt(times(i)) * (x_[i * p + j] - mean));
            squares[j] = exact_product(column, column, several);
        }
#pragma omp parallel for schedule(dynamic)
        for (std::size_t j = 0; j < p; ++j) {
            for (std::size_t k = 0; k <= j; ++k) {
                if (squares[j] == 0.0L || squares[k] == 0.0L) continue;
                const long double sum =
                    exact_product(columns.data() + j * several, columns.data() + k * several, several);
                wanted_[j * p + k] = wanted_[k * p + j] =
                    static_cast<double>(sum / std::sqrt(squares[j] * squares[k]));
            }
        }
        features_with_spread_ =
            static_cast<double>(std::ranges::count_if(squares, [](long double one) { return one > 0.0L; }));
        eigenvalue_bound_ = 0.0;
        for (std::size_t j = 0; j < p; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k < p; ++k) sum += std::fabs(wanted_[j * p + k]);
            eigenvalue_bound_ = std::max(eigenvalue_bound_, sum);
        }
    }

    [[nodiscard]] static double product(const double* a, const double* b, std::size_t count) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = 0; k < count; ++k) sum += a[k] * b[k];
        return sum;
    }

    /// Sum short runs in double precision, with errors no larger than the rounding of elements, and add the
    /// runs in extended precision.
    [[nodiscard]] static long double exact_product(const double* a, const double* b, std::size_t count) {
        constexpr std::size_t run = 32;
        long double sum = 0.0L;
        for (std::size_t k = 0; k < count; k += run) sum += product(a + k, b + k, std::min(run, count - k));
        return sum;
    }

    [[nodiscard]] Cost default_cost() const override { return by_correlation(work_); }

    Buffer<double> x_, values_, vectors_, scores_, matrix_, means_, spreads_, tiles_, sums_, basis_, own_;
    Buffer<std::size_t> order_;
    std::vector<double> wanted_;        ///< The correlation matrix, computed in the first check.
    double features_with_spread_ = 0.0; ///< Number of features with a spread.
    double eigenvalue_bound_ = 0.0;     ///< Upper bound of eigenvalues.
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Pca kernel;
    return assay::kernels::program(kernel, argc, argv);
}
