// build: -O3
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> one{
    .id = "one",
    .parent = "",
    .why = "each chunk by itself, as it comes",
    .isa = Isa::any,
    .broken = false,
    .run = consume<OwnLanes<std::uint32_t, std::uint64_t>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(one);

} // namespace assay::kernels
