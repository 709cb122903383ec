// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment& a) {
    float* const distances = a.scratch;
    for (std::size_t p = 0; p < a.n; ++p) {
        float best = FLT_MAX;
        const std::int32_t best_centre = 0;
        for (std::size_t i = 0; i < a.k; ++i) distances[i] = squared(a.points[p], a.centres[i]);
        for (std::size_t i = 0; i < a.k; ++i) best = distances[i] < best ? distances[i] : best;
        for (std::size_t i = 0; i < a.k; ++i)
            a.nearest[p] = distances[i] < best ? static_cast<std::int32_t>(i) : best_centre;
    }
}

constexpr Variant<Assignment> variant{
    .id = "broken-never-less",
    .parent = "split-o2",
    .why = "wrong on purpose, as printed in the article: the third loop looks for less than the minimum",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
