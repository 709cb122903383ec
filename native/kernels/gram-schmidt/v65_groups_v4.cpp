// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> groups_v4{
    .id = "groups-v4",
    .parent = "prefetch-v4",
    .why = "by groups that stay in the last-level cache, classical within and modified between them: the "
           "base comes from memory once",
    .isa = Isa::v4,
    .broken = false,
    .run = by_groups_of<Chunk<Eight, 8, true>>,
    .missing = nullptr,
    .cost = by_groups,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(groups_v4);

} // namespace assay::kernels
