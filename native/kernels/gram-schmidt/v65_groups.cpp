// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("groups"),
    .parent = ASSAY_ID("prefetch"),
    .why = "groups that fit the last-level cache, classical within and modified between them: the base is "
           "read from memory once",
    .isa = compiled_for,
    .run = by_groups_of<Chunk<Doubles, 8, true>>,
    .cost = by_groups,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
