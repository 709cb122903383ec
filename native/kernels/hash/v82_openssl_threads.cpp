// build: -O2 -fopenmp
#include "kernels/hash/library_threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = "lib-openssl-threads",
    .parent = "lib-openssl",
    .why = "all threads",
    .run = by_threads<openssl_hash>,
    .missing = openssl_missing,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
