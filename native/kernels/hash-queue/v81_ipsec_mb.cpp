// build: -O2
#include "kernels/hash-queue/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> lib_ipsec_mb{
    .id = "lib-ipsec-mb",
    .parent = "lib-openssl",
    .why = "intel-ipsec-mb's lanes: all that wait at a time",
    .isa = Isa::any,
    .broken = false,
    .run = consume<Ipsec>,
    .missing = no_ipsec,
    .cost = nullptr,
    .library = ipsec_name,
};

} // namespace

ASSAY_VARIANT(lib_ipsec_mb);

} // namespace assay::kernels
