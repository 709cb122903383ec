// build: -O2
#include "kernels/hash-queue/work.hpp"

namespace assay::kernels {

namespace {

void run(const Intake&) {}

constexpr Variant<Intake> broken_noop{
    .id = "broken-noop",
    .parent = "one",
    .why = "wrong on purpose: does nothing",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_noop);

} // namespace assay::kernels
