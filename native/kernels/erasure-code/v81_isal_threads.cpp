// build: -O2 -fopenmp -fno-exceptions
#include "kernels/erasure-code/isal.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay::kernels {

namespace {

void run(const Code& c) {
    constexpr std::size_t piece = 4096;
    const std::size_t pieces = (c.n + piece - 1) / piece;
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto own = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = pieces * own / threads * piece;
        const std::size_t end = pieces * (own + 1) / threads * piece;
        unsigned char *source[sources], *target[targets];
        for (std::size_t s = 0; s < sources; ++s) source[s] = const_cast<unsigned char*>(c.source[s]) + begin;
        for (std::size_t t = 0; t < targets; ++t) target[t] = c.target[t] + begin;
        const std::size_t n = (end < c.n ? end : c.n) - begin;
        if (begin < c.n) ec_encode_data()(static_cast<int>(n), sources, targets, c.isal, source, target);
    }
}

constexpr Variant<Code> variant{
    .id = "lib-isal-threads",
    .parent = "lib-isal",
    .why = "ec_encode_data, all threads",
    .run = run,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
