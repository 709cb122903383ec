#include "kernels/hash/libraries.hpp"

#include "kernels/frame/library.hpp"

namespace assay::kernels {

namespace {

const Library& crypto() {
    static const Library library("ASSAY_LIB_CRYPTO", {"libcrypto.so.3"});
    return library;
}

/// As openssl/evp.h declares them (EVP_DigestInit(3)).
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

void openssl_hash(const Hashing& p) {
    const Evp& ssl = evp();
    static void* const context = ssl.make();
    const void* const kind = p.function == Function::md5      ? ssl.md5()
                             : p.function == Function::sha1   ? ssl.sha1()
                             : p.function == Function::sha256 ? ssl.sha256()
                                                              : ssl.sha512();
    for (std::size_t m = 0; m < p.messages; ++m) {
        ssl.init(context, kind, nullptr);
        ssl.update(context, p.data + m * p.length, p.length);
        ssl.final(context, p.digests + m * digest_place, nullptr);
    }
}

const char* openssl_missing(const Hashing&) {
    if (!crypto().there()) return crypto().reason();
    const Evp& ssl = evp();
    return ssl.make && ssl.init && ssl.update && ssl.final && ssl.md5 && ssl.sha1 && ssl.sha256 && ssl.sha512
               ? nullptr
               : "this libcrypto has not all of EVP_Digest";
}

const char* openssl_name() {
    return evp().version ? evp().version(0) : "";
}

} // namespace assay::kernels
