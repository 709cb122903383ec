// build: -O2
#include "kernels/hash/work.hpp"

namespace assay::kernels {

namespace {

void run(const Hashing&) {}

constexpr Variant<Hashing> bad_noop{
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

ASSAY_VARIANT(bad_noop);

} // namespace assay::kernels
