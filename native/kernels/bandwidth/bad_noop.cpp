// build: -O2
#include "kernels/bandwidth/work.hpp"

namespace assay::kernels {

namespace {

void run(const Streams&) {}

constexpr Variant<Streams> broken_noop{
    .id = "broken-noop",
    .parent = "plain",
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
