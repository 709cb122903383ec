// build: -O2
#include "kernels/xor-parity/work.hpp"

namespace assay::kernels {

namespace {

void run(const Parity&) {}

constexpr Variant<Parity> variant{
    .id = "broken-noop",
    .parent = "bytes",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
