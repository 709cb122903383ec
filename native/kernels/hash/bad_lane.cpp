// build: -O3
// for: avx2
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

void run(const Hashing& p) {
    all<U32x8, U64x4>(p);
    for (std::size_t i = 0; p.messages > 1 && i < digest_place; ++i) {
        const unsigned char kept = p.digests[i];
        p.digests[i] = p.digests[digest_place + i];
        p.digests[digest_place + i] = kept;
    }
}

constexpr Variant<Hashing> variant{
    .id = "broken-lane",
    .parent = ASSAY_ID("lanes"),
    .why = "wrong on purpose: neighbours are swapped",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
