// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    double sum = 0.0;
    constexpr std::size_t share = 96UL << 10;
    const auto shares = static_cast<long>(work.n / share);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < shares; ++i) sum += count<Eight, 12>(work.one, share, static_cast<double>(i));
    *work.sum = sum + count<Eight, 12>(work.one, work.n % share);
}

constexpr Variant<Counting> threads_v4{
    .id = "threads-v4",
    .parent = "fma-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
