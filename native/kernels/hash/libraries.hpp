#pragma once

#include "kernels/hash/work.hpp"

namespace assay::kernels {

void openssl_hash(const Hashing& p);
/// Messages of these numbers alone.
void openssl_hash_these(const Hashing& p, const std::size_t* which, std::size_t count);
const char* openssl_missing(const Hashing& p);
const char* openssl_name();

/// Only where its header was there when this was built: its jobs go through a structure that each version
/// lays out for itself.
void ipsec_hash(const Hashing& p);
/// Messages of these numbers alone.
void ipsec_hash_these(const Hashing& p, const std::size_t* which, std::size_t count);
const char* ipsec_missing(const Hashing& p);
const char* ipsec_name();

} // namespace assay::kernels
