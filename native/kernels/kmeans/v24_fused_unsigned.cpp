// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_unsigned{
    .id = "fused-unsigned",
    .parent = "fused-signed",
    .why = "the index is unsigned, which the article's author suspected and cleared",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::uint32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_unsigned);

} // namespace assay::kernels
