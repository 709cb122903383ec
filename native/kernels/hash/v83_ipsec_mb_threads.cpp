// build: -O2 -fopenmp
#include "kernels/hash/library_threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = "lib-ipsec-mb-threads",
    .parent = "lib-ipsec-mb",
    .why = "all threads",
    .run = by_threads<ipsec_hash>,
    .missing = ipsec_missing,
    .library = ipsec_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
