#include "kernels/masked-exp/libraries.hpp"

#include <gnu/libc-version.h>
#include <string>

namespace assay::kernels {

namespace {

constexpr const char* names[] = {"exp", "log", "sin", "cos", "acosh"};

const char* name_of(Function function) {
    return names[static_cast<int>(function)];
}

const Library& libmvec() {
    static const Library found("ASSAY_LIBMVEC", {"libmvec.so.1"});
    return found;
}

const Library& sleef() {
    static const Library found("ASSAY_SLEEF", {"libsleef.so.3", "libsleef.so"});
    return found;
}

} // namespace

void* libmvec_function(Function function, int lanes) {
    const std::string start = lanes == 8 ? "_ZGVeN8v_" : "_ZGVdN4v_";
    return libmvec().symbol((start + name_of(function)).c_str());
}

const char* libmvec_missing(Function function) {
    if (!libmvec().is_loaded()) return libmvec().reason();
    return libmvec_function(function, 4) ? nullptr
                                         : "this libmvec has no such function (acosh: from 2.35 on)";
}

const char* libmvec_version() {
    static const std::string text = "libmvec of glibc " + std::string(gnu_get_libc_version());
    return libmvec().is_loaded() ? text.c_str() : nullptr;
}

void* sleef_function(Function function, int lanes) {
    const std::string end = lanes == 8 ? "d8_u10avx512f" : "d4_u10avx2";
    return sleef().symbol(("Sleef_" + std::string(name_of(function)) + end).c_str());
}

const char* sleef_missing(Function function) {
    if (!sleef().is_loaded()) return sleef().reason();
    return sleef_function(function, 4) ? nullptr : "this SLEEF has no such function";
}

const char* sleef_version() {
    // The library does not report its version; its file name contains it.
    return sleef().is_loaded() ? sleef().path().c_str() : nullptr;
}

} // namespace assay::kernels
