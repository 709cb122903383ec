#pragma once

/// Local to each file that includes it: see hash/lanes.hpp.

#include "kernels/hash-queue/queue.hpp"
#include "kernels/hash/libraries.hpp"

namespace {

/// OpenSSL, which hashes one message at a time.
struct OpenSsl {
    [[nodiscard]] std::size_t max_count(const Hashing&) const { return 1; }
    void hash(const Hashing& chunks, const std::size_t* which, std::size_t count) {
        assay::kernels::openssl_hash_these(chunks, which, count);
    }
};

/// IPSec-MB, which hashes as many messages at once as it has lanes; the rest is flushed.
struct Ipsec {
    [[nodiscard]] std::size_t max_count(const Hashing&) const { return 16; }
    void hash(const Hashing& chunks, const std::size_t* which, std::size_t count) {
        assay::kernels::ipsec_hash_these(chunks, which, count);
    }
};

inline const char* no_openssl(const Intake& work) {
    return assay::kernels::openssl_missing(work.chunks);
}

inline const char* no_ipsec(const Intake& work) {
    return assay::kernels::ipsec_missing(work.chunks);
}

} // namespace
