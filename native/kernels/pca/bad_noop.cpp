// build: -O2
#include "kernels/pca/work.hpp"

namespace assay::kernels {

namespace {

void run(const Components&) {}

constexpr Variant<Components> bad_noop{
    .id = "broken-noop",
    .parent = "plain",
    .why = "wrong on purpose: nothing is done",
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
