// build: -O2
#include "kernels/erasure-code/isal.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    ec_encode_data()(static_cast<int>(c.n), sources, targets, c.isal, const_cast<unsigned char**>(c.source),
                     const_cast<unsigned char**>(c.target));
}

constexpr Variant<Code> variant{
    .id = "lib-isal",
    .parent = "products",
    .why = "ec_encode_data of ISA-L",
    .run = run,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
