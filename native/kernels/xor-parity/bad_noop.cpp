// build: -O2
#include "kernels/xor-parity/work.hpp"

namespace assay::kernels {

namespace {

void run(const Parity&) {}

constexpr Variant<Parity> bad_noop{
    .id = "broken-noop",
    .parent = "bytes",
    .why = "wrong on purpose: does nothing",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_noop);

} // namespace assay::kernels
