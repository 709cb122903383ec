// build: -O2
#include "kernels/deflate/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks&) {}

constexpr Variant<Chunks> bad_noop{
    .id = "broken-noop",
    .parent = "stored",
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
