#pragma once

#include "kernels/hash/work.hpp"

namespace assay::kernels {

void openssl_hash(const Hashing& p);
/// Hash only the messages with the given numbers.
void openssl_hash_these(const Hashing& p, const std::size_t* which, std::size_t count);
const char* openssl_missing(const Hashing& p);
const char* openssl_name();

/// Available only if the header was present at build time, since each version of the library has its own
/// layout of jobs.
void ipsec_hash(const Hashing& p);
/// Hash only the messages with the given numbers.
void ipsec_hash_these(const Hashing& p, const std::size_t* which, std::size_t count);
const char* ipsec_missing(const Hashing& p);
const char* ipsec_name();

} // namespace assay::kernels
