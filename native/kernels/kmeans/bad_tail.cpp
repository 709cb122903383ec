// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment& a) {
    Assignment whole_groups = a;
    whole_groups.n = (a.n > 0 ? a.n - 1 : 0) / 16 * 16;
    serially<points_in_registers, assign_later<Simd, vectors_of_points, Products>>(whole_groups);
}

constexpr Variant<Assignment> variant{
    .id = "broken-tail",
    .parent = ASSAY_ID("later"),
    .why = "wrong on purpose: points that fill no block are left out",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
