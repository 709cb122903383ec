// build: -O3 -fopenmp
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    std::uint64_t sum = 0;
    constexpr std::size_t step = 512;
    const auto steps = static_cast<long>((work.count + step - 1) / step);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < steps; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * step;
        sum += visit(work, first, first + step < work.count ? first + step : work.count);
    }
    *work.sum = sum;
}

constexpr Variant<Words> variant{
    .id = "threads",
    .parent = "forward",
    .why = "all threads, each with its own part",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
