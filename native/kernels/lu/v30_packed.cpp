// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("packed"),
    .parent = "panels",
    .why = ASSAY_AVX2("the panel in strips of rows, rows of U in strips of columns: the update is a matrix "
                      "product, 12 by 4 elements in registers")
        ASSAY_AVX512("the panel in strips of rows, rows of U in strips of columns: the update is a matrix "
                     "product, 24 by 8 elements in registers"),
    .isa = compiled_for,
    .run = serially<Way<Doubles>, ByColumns>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
