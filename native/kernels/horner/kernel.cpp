#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/horner/work.hpp"

#include <algorithm>
#include <cfloat>
#include <limits>

namespace assay::kernels {

namespace {

/// Number of elements after which data repeat, a prime: the check computes only as many values in higher
/// precision, however large the data are.
constexpr std::size_t period = 4099;
/// All coefficients and data are positive, so nothing cancels and errors stay relative.
double datum(std::size_t i) {
    return 0.5 + 0.5 * static_cast<double>(i % period * 1597 % period) / static_cast<double>(period);
}

double coefficient(std::size_t k) {
    return 0.5 + static_cast<double>(k * 619 % 1009) / 1009.0;
}

const About about_horner = {
    "horner",
    "A polynomial at every element of an array (Horner's rule)",
    "Intel Memory Drive Technology, polynomial benchmark: read-only reaches 80 % of DRAM's efficiency at 128 "
    "to "
    "256 FLOP a byte, read-write at 256 to 512",
    "memory bandwidth at low degrees, multiply-add units at high ones",
};

class Horner final : public KernelOf<Polynomial> {
  public:
    [[nodiscard]] const About& about() const override { return about_horner; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "elements", 0, 0, std::int64_t{1} << 40},
                {"degree", "degree of the polynomial", 16, 1, 4096},
                {"write", "1: writes values to a second array; 0: sums them", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 97, 8209})
            for (const std::int64_t write : {0, 1})
                found.push_back({{"n", n}, {"degree", 5}, {"write", write}});
        found.push_back({{"n", 65}, {"degree", 1}, {"write", 1}});
        found.push_back({{"n", 65}, {"degree", 200}, {"write", 0}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["n"] = bytes / (values.at("write") ? 16 : 8);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return (values.at("write") ? 16.0 : 8.0) * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const auto degree = static_cast<std::size_t>(values.at("degree"));
        const bool write = values.at("write") != 0;
        x_ = Buffer<double>(n, shift);
        y_ = Buffer<double>(write ? n : 0, shift);
        c_ = Buffer<double>(degree + 1);
        for (std::size_t i = 0; i < n; ++i) x_[i] = datum(i);
        for (std::size_t k = 0; k <= degree; ++k) c_[k] = coefficient(k);
        work_ = {x_.data(), write ? y_.data() : nullptr, &sum_, c_.data(), n, degree};
    }

    void poison() override {
        std::ranges::fill(y_, std::numeric_limits<double>::quiet_NaN());
        sum_ = std::numeric_limits<double>::quiet_NaN();
    }

    [[nodiscard]] Verdict check() override {
        const std::size_t known = std::min(period, work_.n);
        std::vector<long double> wanted(known);
        for (std::size_t i = 0; i < known; ++i) wanted[i] = value(x_[i]);
        const double rounding = DBL_EPSILON * 4.0 * static_cast<double>(work_.degree);
        if (work_.y) {
            Comparison values(rounding, 0.0);
            for (std::size_t i = 0; i < work_.n; ++i) values.compare("y", i, y_[i], wanted[i % period]);
            return values.verdict(work_.n);
        }
        long double sum = 0.0L;
        for (std::size_t i = 0; i < known; ++i)
            sum += wanted[i] * static_cast<long double>((work_.n - i + period - 1) / period);
        Comparison total(rounding + DBL_EPSILON * static_cast<double>(work_.n), 0.0);
        total.compare("sum", 0, sum_, sum);
        return total.verdict(1);
    }

  private:
    [[nodiscard]] long double value(double x) const {
        long double found = c_[work_.degree];
        for (std::size_t k = work_.degree; k > 0; --k) found = found * x + c_[k - 1];
        return found;
    }

    /// Count operations as in the talk: two for each degree, whether values are summed or written.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        const bool write = work_.y != nullptr;
        return {.flops = 2.0 * static_cast<double>(work_.degree) * n,
                .bytes = (write ? 16.0 : 8.0) * n,
                .bytes_with_allocate = (write ? 24.0 : 8.0) * n};
    }

    Buffer<double> x_, y_, c_;
    double sum_ = 0.0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Horner kernel;
    return assay::kernels::program(kernel, argc, argv);
}
