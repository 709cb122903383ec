#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/latency/work.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace assay::kernels {

namespace {

const About about_latency = {
    "latency",
    "Latency of dependent memory accesses",
    "pointer chase, as in lat_mem_rd of lmbench",
    "the memory level that holds the lines, and address translation",
};

constexpr std::uint64_t nowhere = UINT64_MAX;

class Latency final : public KernelOf<Chase> {
  public:
    [[nodiscard]] const About& about() const override { return about_latency; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"lines", "lines of 64 bytes", 0, 1, std::int64_t{1} << 34}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t lines : {1, 2, 7, 8, 9, 1009}) found.push_back({{"lines", lines}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["lines"] = std::max<std::int64_t>(bytes / 64, 1);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 64.0 * static_cast<double>(values.at("lines"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto lines = static_cast<std::size_t>(values.at("lines"));
        next_ = Buffer<std::uint64_t>(lines * line_elements, shift);
        std::ranges::fill(next_, nowhere);
        // A random permutation with a single cycle (Sattolo 1986).
        std::mt19937_64 random(lines);
        for (std::size_t i = 0; i < lines; ++i) next_[i * line_elements] = i * line_elements;
        for (std::size_t i = lines - 1; i > 0; --i)
            std::swap(next_[i * line_elements], next_[random() % i * line_elements]);
        work_ = {next_.data(), end_, lines};
    }

    void poison() override { std::ranges::fill(end_, nowhere); }

    /// Check that a walk is back at its start after as many steps as there are lines, and not before.
    [[nodiscard]] Verdict check() override {
        Comparison places(0.0, 0.0);
        for (std::size_t walk = 0; walk < walks; ++walk) {
            const std::size_t begin = walk % work_.lines * line_elements;
            places.compare("end", walk, static_cast<double>(end_[walk]), static_cast<long double>(begin));
        }
        return places.verdict(walks);
    }

  private:
    [[nodiscard]] Cost default_cost() const override {
        const double bytes = 64.0 * static_cast<double>(walks * work_.lines);
        return {.bytes = bytes, .bytes_with_allocate = bytes};
    }

    Buffer<std::uint64_t> next_;
    std::uint64_t end_[walks] = {};
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Latency kernel;
    return assay::kernels::program(kernel, argc, argv);
}
