// build: -O2
#include "kernels/lu/work.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix&) {}

constexpr Variant<Matrix> bad_noop{
    .id = "broken-noop",
    .parent = "columns",
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
