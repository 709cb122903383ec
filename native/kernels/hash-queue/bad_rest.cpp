// build: -O2
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

void run(const Intake& work) {
    Intake fewer = work;
    if (fewer.chunks.messages > 0) --fewer.chunks.messages;
    consume<OwnLanes<std::uint32_t, std::uint64_t>>(fewer);
}

constexpr Variant<Intake> broken_rest{
    .id = "broken-rest",
    .parent = "one",
    .why = "wrong on purpose: the last chunk stays in the queue",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_rest);

} // namespace assay::kernels
