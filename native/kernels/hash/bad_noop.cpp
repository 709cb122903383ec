// build: -O2
#include "kernels/hash/work.hpp"

namespace assay::kernels {

namespace {

void run(const Hashing&) {}

constexpr Variant<Hashing> variant{
    .id = "broken-noop",
    .parent = "one",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
