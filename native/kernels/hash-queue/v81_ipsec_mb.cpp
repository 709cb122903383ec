// build: -O2
#include "kernels/hash-queue/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = "lib-ipsec-mb",
    .parent = "lib-openssl",
    .why = "lanes of intel-ipsec-mb: all waiting chunks at a time",
    .run = consume<Ipsec>,
    .missing = no_ipsec,
    .library = ipsec_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
