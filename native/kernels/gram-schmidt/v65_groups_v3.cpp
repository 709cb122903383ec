// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> groups_v3{
    .id = "groups-v3",
    .parent = "prefetch-v3",
    .why = "by groups that stay in the last-level cache, classical within and modified between them: the "
           "base comes from memory once",
    .isa = Isa::v3,
    .broken = false,
    .run = by_groups_of<Chunk<Four, 8, true>>,
    .missing = nullptr,
    .cost = by_groups,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(groups_v3);

} // namespace assay::kernels
