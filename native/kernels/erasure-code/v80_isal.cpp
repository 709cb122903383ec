// build: -O2
#include "kernels/erasure-code/isal.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    ec_encode_data()(static_cast<int>(c.n), sources, targets, c.isal, const_cast<unsigned char**>(c.source),
                     const_cast<unsigned char**>(c.target));
}

constexpr Variant<Code> isal{
    .id = "lib-isal",
    .parent = "products",
    .why = "ec_encode_data of ISA-L",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = isal_missing,
    .cost = nullptr,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(isal);

} // namespace assay::kernels
