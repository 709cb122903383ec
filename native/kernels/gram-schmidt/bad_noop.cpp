// build: -O2
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base&) {}

constexpr Variant<Base> bad_noop{
    .id = "broken-noop",
    .parent = "modified",
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
