// build: -O2
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

struct Turned : OwnLanes<std::uint32_t, std::uint64_t> {
    [[nodiscard]] std::size_t max_count(const Hashing&) const { return 4; }
    void hash(const Hashing& chunks, const std::size_t* which, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            Hashing one = chunks;
            one.digests += which[count - 1 - i] * digest_place;
            one.data += which[i] * one.length;
            one.messages = 1;
            all<std::uint32_t, std::uint64_t>(one);
        }
    }
};

constexpr Variant<Intake> variant{
    .id = "broken-order",
    .parent = "one",
    .why = "wrong on purpose: a batch is returned in the order of completion",
    .broken = true,
    .run = consume<Turned>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
