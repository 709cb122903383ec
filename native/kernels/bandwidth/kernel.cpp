#include "kernels/bandwidth/work.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"

#include <algorithm>
#include <limits>

namespace assay::kernels {

namespace {

/// Return small whole numbers: up to 2^53, their sums and products are exact in any order.
double datum(std::size_t i) {
    return static_cast<double>(i % 31);
}

double other(std::size_t i) {
    return static_cast<double>(i % 17);
}

constexpr double factor = 3.0;

const About about_bandwidth = {
    "bandwidth",
    "Bandwidth of reading, copying and combining arrays",
    "roof of the catalogue's rooflines: operations of STREAM (McCalpin 1995)",
    "the memory level that holds the arrays",
};

class Bandwidth final : public KernelOf<Streams> {
  public:
    [[nodiscard]] const About& about() const override { return about_bandwidth; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "elements of each array", 0, 0, std::int64_t{1} << 40},
                {"operation", "0: all are summed; 1: copied; 2: a + 3 b", triad, reading, triad}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 97, 8209})
            for (const std::int64_t operation : {0, 1, 2})
                found.push_back({{"n", n}, {"operation", operation}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["n"] = bytes / (8 * (values.at("operation") + 1));
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 8.0 * static_cast<double>(values.at("operation") + 1) * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const auto operation = static_cast<Operation>(values.at("operation"));
        from_ = Buffer<double>(n, shift);
        other_ = Buffer<double>(operation == triad ? n : 0, shift);
        to_ = Buffer<double>(operation == reading ? 0 : n, shift);
        for (std::size_t i = 0; i < n; ++i) from_[i] = datum(i);
        for (std::size_t i = 0; i < other_.size(); ++i) other_[i] = other(i);
        work_ = {from_.data(), other_.data(), to_.data(), &sum_, factor, n, operation};
    }

    void poison() override {
        std::ranges::fill(to_, std::numeric_limits<double>::quiet_NaN());
        sum_ = std::numeric_limits<double>::quiet_NaN();
    }

    [[nodiscard]] Verdict check() override {
        Comparison exact(0.0, 0.0);
        if (work_.operation == reading) {
            long double sum = 0.0L;
            for (std::size_t i = 0; i < work_.n; ++i) sum += datum(i);
            exact.compare("sum", 0, sum_, sum);
            return exact.verdict(1);
        }
        const double times = work_.operation == triad ? factor : 0.0;
        for (std::size_t i = 0; i < work_.n; ++i) exact.compare("to", i, to_[i], datum(i) + times * other(i));
        return exact.verdict(work_.n);
    }

  private:
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        const double arrays = 1.0 + static_cast<double>(work_.operation);
        return {.flops = (work_.operation == reading   ? 1.0
                          : work_.operation == copying ? 0.0
                                                       : 2.0) *
                         n,
                .bytes = 8.0 * arrays * n,
                .bytes_with_allocate = 8.0 * (arrays + (work_.operation == reading ? 0.0 : 1.0)) * n};
    }

    Buffer<double> from_, other_, to_;
    double sum_ = 0.0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Bandwidth kernel;
    return assay::kernels::program(kernel, argc, argv);
}
