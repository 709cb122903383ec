// build: -O2
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = "one",
    .parent = "",
    .why = "one message after the other, a word in one instruction",
    .run = all<std::uint32_t, std::uint64_t>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
