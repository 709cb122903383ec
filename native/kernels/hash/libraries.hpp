#pragma once

#include "kernels/hash/work.hpp"

namespace assay::kernels {

void openssl_hash(const Hashing& p);
const char* openssl_missing(const Hashing& p);
const char* openssl_name();

} // namespace assay::kernels
