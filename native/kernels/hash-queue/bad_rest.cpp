// build: -O2
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

void run(const Intake& work) {
    Intake fewer = work;
    if (fewer.chunks.messages > 0) --fewer.chunks.messages;
    consume<OwnLanes<std::uint32_t, std::uint64_t>>(fewer);
}

constexpr Variant<Intake> variant{
    .id = "broken-rest",
    .parent = "one",
    .why = "wrong on purpose: the last chunk stays in the queue",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
