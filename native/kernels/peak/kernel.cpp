#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/peak/work.hpp"

#include <limits>

namespace assay::kernels {

namespace {

const About about_peak = {
    "peak",
    "Peak rate of additions and multiplications",
    "roof of the catalogue's rooflines: chains of fused multiply-adds in registers, as peakflops of "
    "likwid-bench",
    "multiply-add units",
};

class Peak final : public KernelOf<Counting> {
  public:
    [[nodiscard]] const About& about() const override { return about_peak; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        // The 48 counters of the narrowest variant stay below 2^24, to which floats count exactly.
        return {{"n", "multiply-adds", 1 << 24, 1, 1 << 29},
                {"single", "1: single precision, 0: double precision", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {1, 7, 95, 97, 1000003})
            for (const std::int64_t single : {0, 1}) found.push_back({{"n", n}, {"single", single}});
        return found;
    }

    /// Do nothing, since there are no data.
    void fit(Values&, std::int64_t) const override {}

    [[nodiscard]] double bytes(const Values&) const override { return sizeof one_; }

    void prepare(const Values& values, std::size_t) override {
        work_ = {&one_, &sum_, static_cast<std::size_t>(values.at("n")), values.at("single") != 0};
    }

    void poison() override { sum_ = std::numeric_limits<double>::quiet_NaN(); }

    [[nodiscard]] Verdict check() override {
        Comparison count(0.0, 0.0);
        count.compare("sum", 0, sum_, static_cast<long double>(work_.n));
        return count.verdict(1);
    }

  private:
    [[nodiscard]] Cost default_cost() const override {
        return {.flops = 2.0 * static_cast<double>(work_.n),
                .bytes = sizeof one_,
                .bytes_with_allocate = sizeof one_};
    }

    double one_ = 1.0;
    double sum_ = 0.0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Peak kernel;
    return assay::kernels::program(kernel, argc, argv);
}
