#include "kernels/log-product/libraries.hpp"

#include "kernels/frame/library.hpp"

#include <gnu/libc-version.h>
#include <string>

namespace assay::kernels {

namespace {

const Library& libmvec() {
    static const Library found("ASSAY_LIBMVEC", {"libmvec.so.1"});
    return found;
}

const Library& sleef() {
    static const Library found("ASSAY_SLEEF", {"libsleef.so.3", "libsleef.so"});
    return found;
}

} // namespace

void* libmvec_log(int lanes) {
    return libmvec().symbol(lanes == 8 ? "_ZGVeN8v_log" : "_ZGVdN4v_log");
}

const char* libmvec_missing(const Logarithms&) {
    if (!libmvec().is_loaded()) return libmvec().reason();
    return libmvec_log(4) && libmvec_log(8) ? nullptr : "this libmvec has no logarithm";
}

const char* libmvec_version() {
    static const std::string text = "libmvec of glibc " + std::string(gnu_get_libc_version());
    return libmvec().is_loaded() ? text.c_str() : nullptr;
}

void* sleef_log(int lanes) {
    return sleef().symbol(lanes == 8 ? "Sleef_logd8_u10avx512f" : "Sleef_logd4_u10avx2");
}

const char* sleef_missing(const Logarithms&) {
    if (!sleef().is_loaded()) return sleef().reason();
    return sleef_log(4) && sleef_log(8) ? nullptr : "this SLEEF has no logarithm for these processors";
}

const char* sleef_version() {
    // The library does not report its version; its file name contains it.
    return sleef().is_loaded() ? sleef().path().c_str() : nullptr;
}

} // namespace assay::kernels
