#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/masked-exp/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// Number of elements after which data repeat, a prime: long enough that a branch predictor does not learn
/// them.
constexpr std::size_t period = 65537;

/// Return a pseudorandom number below 2^32 that depends on another number (C. Wellons, "Prospecting for hash
/// functions": lowbias32).
std::uint32_t mixed(std::uint32_t a) {
    a = (a ^ a >> 16) * 0x7feb352dU;
    a = (a ^ a >> 15) * 0x846ca68bU;
    return a ^ a >> 16;
}

/// Properties of a function.
struct Properties {
    long double (*exact)(long double);
    /// Argument for masked elements: 0.5, as the article recommends, but acosh is undefined there.
    double patch;
    double from, upto; ///< Range of arguments.
    double scale;      ///< Errors of smaller results are relative to this size.
};

/// Scale of sine and cosine: near their zeros, vector libraries promise absolute errors.
constexpr double turns = 1.0;

const Properties properties_of[] = {
    {std::exp, 0.5, 0.0, 709.75, 0.0},   {std::log, 0.5, 0.0, 1024.0, 0.0},
    {std::sin, 0.5, 0.0, 1024.0, turns}, {std::cos, 0.5, 0.0, 1024.0, turns},
    {std::acosh, 2.0, 1.0, 1024.0, 0.0},
};

/// Masked arguments: each of them costs time or spoils a result if it is used in spite of the mask.
constexpr double masked_arguments[] = {
    -1.0,   -746.0, 0.0, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
    -708.5, -0.0,   -3.5};

const About about_masked = {
    "masked-exp",
    "Function of the array elements above zero (exp, log, sin, cos, acosh)",
    "article on masked vector functions: replace masked elements, call the vector function, discard their "
    "results; skipping empty masks is left as an exercise",
    "multiply-add units in a cache, memory bandwidth beyond",
};

class MaskedFunction final : public KernelOf<Masked> {
  public:
    [[nodiscard]] const About& about() const override { return about_masked; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "elements", 0, 0, std::int64_t{1} << 40},
                {"function", "0: exp, 1: log, 2: sin, 3: cos, 4: acosh", 0, 0, 4},
                {"active", "elements above zero, in percent", 50, 0, 100},
                {"run", "length of runs of active elements", 1, 1, 65536}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 97, 8209})
            for (const std::int64_t active : {0, 50, 100})
                found.push_back({{"n", n}, {"function", 0}, {"active", active}, {"run", 1}});
        for (const std::int64_t function : {1, 2, 3, 4})
            found.push_back({{"n", 70001}, {"function", function}, {"active", 50}, {"run", 1}});
        found.push_back({{"n", 70001}, {"function", 0}, {"active", 10}, {"run", 64}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override { values["n"] = bytes / 16; }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 16.0 * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const auto run = static_cast<std::uint32_t>(values.at("run"));
        properties_ = &properties_of[values.at("function")];
        x_ = Buffer<double>(n, shift);
        y_ = Buffer<double>(n, shift);
        std::size_t active = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::uint32_t>(i % period);
            const bool is = mixed(at / run) % 100 < static_cast<std::uint32_t>(values.at("active"));
            // Above zero, and not zero itself.
            const double part = (static_cast<double>(mixed(~at)) + 1.0) * 0x1p-32;
            x_[i] = is ? properties_->from + part * (properties_->upto - properties_->from)
                       : masked_arguments[mixed(at) % 8];
            active += is;
        }
        work_ = {x_.data(),          y_.data(), n, static_cast<Function>(values.at("function")),
                 properties_->patch, active};
    }

    void poison() override { std::ranges::fill(y_, std::numeric_limits<double>::quiet_NaN()); }

    /// Tolerance: four units in the last place, as libmvec promises (sysdeps/x86/fpu/test-double-vlen4.h of
    /// glibc), which is four times the error of SLEEF and the kernel's own functions. Masked elements have to
    /// be exactly zero.
    [[nodiscard]] Verdict check() override {
        const std::size_t several = std::min(period, work_.n);
        std::vector<long double> wanted(several);
        for (std::size_t i = 0; i < several; ++i) wanted[i] = x_[i] > 0.0 ? properties_->exact(x_[i]) : 0.0L;
        Comparison values(4.0 * DBL_EPSILON, properties_->scale);
        for (std::size_t i = 0; i < work_.n; ++i) {
            const bool spoilt = !(x_[i] > 0.0) && y_[i] != 0.0;
            values.compare("y", i, spoilt ? NAN : y_[i], wanted[i % period]);
        }
        return values.verdict(work_.n);
    }

  private:
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        return {
            .special = static_cast<double>(work_.active), .bytes = 16.0 * n, .bytes_with_allocate = 24.0 * n};
    }

    Buffer<double> x_, y_;
    const Properties* properties_ = nullptr;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::MaskedFunction kernel;
    return assay::kernels::program(kernel, argc, argv);
}
