// build: -O2
#include "kernels/hash-queue/work.hpp"

namespace assay::kernels {

namespace {

void run(const Intake&) {}

constexpr Variant<Intake> variant{
    .id = "broken-noop",
    .parent = "one",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
