// build: -O2
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

void run(const Hashing& p) {
    for (std::size_t m = 0; m < p.messages; ++m) {
        Hashing one{p.data + m * p.length, p.digests + m * digest_place, 1, p.length, p.function};
        if (one.length > 0) --one.length;
        all<std::uint32_t, std::uint64_t>(one);
    }
}

constexpr Variant<Hashing> variant{
    .id = "broken-tail",
    .parent = "one",
    .why = "wrong on purpose: the last byte of a message is left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
