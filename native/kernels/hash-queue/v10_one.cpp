// build: -O3
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = "one",
    .parent = "",
    .why = "each chunk by itself, in the order of arrival",
    .run = consume<OwnLanes<std::uint32_t, std::uint64_t>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
