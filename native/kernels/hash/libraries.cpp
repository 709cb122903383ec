#include "kernels/hash/libraries.hpp"

#include "kernels/frame/library.hpp"

#include <cstdint>
#include <string>

#if __has_include(<intel-ipsec-mb.h>)
#include <intel-ipsec-mb.h>
#define ASSAY_IPSEC_MB 1
#endif

namespace assay::kernels {

namespace {

const Library& crypto() {
    static const Library library("ASSAY_LIB_CRYPTO", {"libcrypto.so.3"});
    return library;
}

/// Functions as declared in openssl/evp.h (EVP_DigestInit(3)).
struct Evp {
    void* (*make)() = crypto().function<void*()>("EVP_MD_CTX_new");
    int (*init)(void*, const void*,
                void*) = crypto().function<int(void*, const void*, void*)>("EVP_DigestInit_ex");
    int (*update)(void*, const void*,
                  std::size_t) = crypto().function<int(void*, const void*, std::size_t)>("EVP_DigestUpdate");
    int (*final)(void*, unsigned char*,
                 unsigned*) = crypto().function<int(void*, unsigned char*, unsigned*)>("EVP_DigestFinal_ex");
    const void* (*md5)() = crypto().function<const void*()>("EVP_md5");
    const void* (*sha1)() = crypto().function<const void*()>("EVP_sha1");
    const void* (*sha256)() = crypto().function<const void*()>("EVP_sha256");
    const void* (*sha512)() = crypto().function<const void*()>("EVP_sha512");
    const char* (*version)(int) = crypto().function<const char*(int)>("OpenSSL_version");
};

const Evp& evp() {
    static const Evp found;
    return found;
}

} // namespace

namespace {

/// \tparam Number function that returns the number of the i-th message to hash.
template <class Number>
void openssl_hash_by(const Hashing& p, std::size_t count, Number number) {
    const Evp& ssl = evp();
    // One context for each thread.
    static thread_local void* const context = ssl.make();
    const void* const kind = p.function == Function::md5      ? ssl.md5()
                             : p.function == Function::sha1   ? ssl.sha1()
                             : p.function == Function::sha256 ? ssl.sha256()
                                                              : ssl.sha512();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t m = number(i);
        ssl.init(context, kind, nullptr);
        ssl.update(context, p.data + m * p.length, p.length);
        ssl.final(context, p.digests + m * digest_place, nullptr);
    }
}

} // namespace

void openssl_hash(const Hashing& p) {
    openssl_hash_by(p, p.messages, [](std::size_t i) { return i; });
}

void openssl_hash_these(const Hashing& p, const std::size_t* which, std::size_t count) {
    openssl_hash_by(p, count, [which](std::size_t i) { return which[i]; });
}

const char* openssl_missing(const Hashing&) {
    if (!crypto().is_loaded()) return crypto().reason();
    const Evp& ssl = evp();
    return ssl.make && ssl.init && ssl.update && ssl.final && ssl.md5 && ssl.sha1 && ssl.sha256 && ssl.sha512
               ? nullptr
               : "this libcrypto lacks functions of EVP_Digest";
}

const char* openssl_name() {
    return evp().version ? evp().version(0) : "";
}

#ifdef ASSAY_IPSEC_MB

namespace {

const Library& ipsec() {
    static const Library library("ASSAY_LIB_IPSEC_MB", {"libIPSec_MB.so.1"});
    return library;
}

/// Return this thread's job manager, initialised for this processor, or null if the library does not provide
/// one.
IMB_MGR* manager() {
    static thread_local IMB_MGR* const made = []() -> IMB_MGR* {
        auto* const make = ipsec().function<IMB_MGR*(std::uint64_t)>("alloc_mb_mgr");
        auto* const init = ipsec().function<void(IMB_MGR*, IMB_ARCH*)>("init_mb_mgr_auto");
        IMB_MGR* const found = make && init ? make(0) : nullptr;
        if (found) init(found, nullptr);
        return found;
    }();
    return made;
}

/// Fill in the fields of a job for the hash function, and return the length of its digest.
std::uint64_t prepare(IMB_JOB& job, Function function) {
    job.cipher_mode = IMB_CIPHER_NULL;
    job.cipher_direction = IMB_DIR_ENCRYPT;
    job.chain_order = IMB_ORDER_HASH_CIPHER;
    job.hash_alg = function == Function::sha1     ? IMB_AUTH_SHA_1
                   : function == Function::sha256 ? IMB_AUTH_SHA_256
                                                  : IMB_AUTH_SHA_512;
    return function == Function::sha1 ? 20 : function == Function::sha256 ? 32 : 64;
}

/// \tparam Number function that returns the number of the i-th message to hash.
template <class Number>
void ipsec_hash_by(const Hashing& p, std::size_t count, Number number) {
    IMB_MGR* const jobs = manager();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t m = number(i);
        IMB_JOB* const job = IMB_GET_NEXT_JOB(jobs);
        *job = {};
        job->auth_tag_output_len_in_bytes = prepare(*job, p.function);
        job->auth_tag_output = p.digests + m * digest_place;
        job->src = p.data + m * p.length;
        job->msg_len_to_hash_in_bytes = p.length;
        IMB_SUBMIT_JOB(jobs);
    }
    while (IMB_FLUSH_JOB(jobs)) {
    }
}

} // namespace

void ipsec_hash(const Hashing& p) {
    ipsec_hash_by(p, p.messages, [](std::size_t i) { return i; });
}

void ipsec_hash_these(const Hashing& p, const std::size_t* which, std::size_t count) {
    ipsec_hash_by(p, count, [which](std::size_t i) { return which[i]; });
}

const char* ipsec_missing(const Hashing& p) {
    if (!ipsec().is_loaded()) return ipsec().reason();
    if (!manager()) return "this libIPSec_MB does not create a manager";
    if (p.function == Function::md5) return "libIPSec_MB supports MD5 for HMAC alone";
    // The library's lanes store lengths in 16 bits (MB_MAX_LEN16 in its source).
    constexpr std::size_t most = (1U << 16U) - 2;
    if (p.length == 0 || p.length > most) return "libIPSec_MB takes messages of 1 to 65534 bytes";
    return nullptr;
}

const char* ipsec_name() {
    auto* const version = ipsec().function<const char*()>("imb_get_version_str");
    static const std::string name = version ? std::string("intel-ipsec-mb ") + version() : "";
    return name.c_str();
}

#else

void ipsec_hash(const Hashing&) {}

void ipsec_hash_these(const Hashing&, const std::size_t*, std::size_t) {}

const char* ipsec_missing(const Hashing&) {
    return "built without intel-ipsec-mb.h (package libipsec-mb-dev)";
}

const char* ipsec_name() {
    return "";
}

#endif

} // namespace assay::kernels
