// build: -O2
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    Streams most = work;
    if (most.n > 0) --most.n;
    move_all(most);
}

constexpr Variant<Streams> broken_tail{
    .id = "broken-tail",
    .parent = "plain",
    .why = "wrong on purpose: leaves out the last one",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_tail);

} // namespace assay::kernels
