// build: -O2
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> one{
    .id = "one",
    .parent = nullptr,
    .why = "one message after the other, a word in one instruction",
    .isa = Isa::any,
    .broken = false,
    .run = all<std::uint32_t, std::uint64_t>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(one);

} // namespace assay::kernels
