// build: -O3 -ffp-contract=off -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    double sum = 0.0;
    constexpr std::size_t share = 96UL << 10;
    const auto shares = static_cast<long>(work.n / share);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < shares; ++i) sum += count<Two, 12>(work.one, share, static_cast<double>(i));
    *work.sum = sum + count<Two, 12>(work.one, work.n % share);
}

constexpr Variant<Counting> threads{
    .id = "threads",
    .parent = "sse",
    .why = "all threads",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads);

} // namespace assay::kernels
