#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/log-product/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// Number of elements after which data repeat, a prime: the check computes only as many values in higher
/// precision. The period is long enough that a branch predictor does not learn their signs.
constexpr std::size_t period = 65537;

/// Return a number from 0 to below 1. In each period, each value occurs once.
double part(std::size_t i, std::size_t step) {
    return static_cast<double>(i % period * step % period) / static_cast<double>(period);
}

constexpr double special[] = {0.0,
                              -0.0,
                              std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(),
                              DBL_MIN,
                              DBL_MAX};

const About about_logarithms = {
    "log-product",
    "Product of the logarithms of two arrays",
    "Thread parallelism in Cython (prange): 100 times 100 Mi elements take 2874.4 s in one thread of a Xeon "
    "Phi, and 26.0 s (gcc), 23.9 s (icc) and 21.0 s (icc, AVX-512) in 272; its input from -1 to 1 has "
    "no logarithm for three quarters of the products",
    "memory bandwidth once the logarithms are computed in vectors",
};

class LogProduct final : public KernelOf<Logarithms> {
  public:
    [[nodiscard]] const About& about() const override { return about_logarithms; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "elements", 0, 0, std::int64_t{1} << 40},
                {"input", "0: from 1 to 2; 1: from -1 to 1, as in the article", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 97, 70001})
            for (const std::int64_t input : {0, 1}) found.push_back({{"n", n}, {"input", input}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override { values["n"] = bytes / 24; }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 24.0 * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const double from = values.at("input") ? -1.0 : 1.0, width = values.at("input") ? 2.0 : 1.0;
        a_ = Buffer<double>(n, shift);
        b_ = Buffer<double>(n, shift);
        c_ = Buffer<double>(n, shift);
        for (std::size_t i = 0; i < n; ++i) {
            a_[i] = from + width * part(i, 40503);
            b_[i] = from + width * part(i, 25717);
        }
        // Include special values if undefined logarithms are included.
        if (values.at("input"))
            for (std::size_t i = 0; i < n; ++i)
                if (i % period < std::size(special)) {
                    a_[i] = special[i % period];
                    b_[i] = 0.5;
                }
        work_ = {a_.data(), b_.data(), c_.data(), n};
    }

    void poison() override { std::ranges::fill(c_, lost); }

    /// Tolerance: four units in the last place for each logarithm, as libmvec promises, and one for the
    /// product. For undefined logarithms only NaN is correct, and infinite results must be exact.
    [[nodiscard]] Verdict check() override {
        const std::size_t several = std::min(period, work_.n);
        std::vector<long double> wanted(several);
        for (std::size_t i = 0; i < several; ++i)
            wanted[i] = std::log(static_cast<long double>(a_[i])) * std::log(static_cast<long double>(b_[i]));
        Comparison values(9.0 * DBL_EPSILON, 0.0);
        for (std::size_t i = 0; i < work_.n; ++i) {
            const long double value = wanted[i % period];
            const bool same = std::isnan(value) ? std::isnan(c_[i]) : c_[i] == static_cast<double>(value);
            if (std::isfinite(value))
                values.compare("c", i, c_[i], value);
            else
                values.compare("c", i, same ? 0.0 : NAN, 0.0L);
        }
        return values.verdict(work_.n);
    }

  private:
    /// Invalid value: larger than any product. NaN is not used, since it may be correct.
    static constexpr double lost = 1e300;

    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        return {.flops = n, .special = 2.0 * n, .bytes = 24.0 * n, .bytes_with_allocate = 32.0 * n};
    }

    Buffer<double> a_, b_, c_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::LogProduct kernel;
    return assay::kernels::program(kernel, argc, argv);
}
