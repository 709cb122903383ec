// build: -O3 -march=x86-64-v3
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

void run(const Hashing& p) {
    all<Short8, Long4>(p);
    for (std::size_t i = 0; p.messages > 1 && i < digest_place; ++i) {
        const unsigned char kept = p.digests[i];
        p.digests[i] = p.digests[digest_place + i];
        p.digests[digest_place + i] = kept;
    }
}

constexpr Variant<Hashing> bad_lane{
    .id = "broken-lane",
    .parent = "lanes-avx2",
    .why = "wrong on purpose: neighbours have changed places",
    .isa = Isa::v3,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_lane);

} // namespace assay::kernels
