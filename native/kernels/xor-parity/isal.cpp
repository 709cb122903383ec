#include "kernels/xor-parity/isal.hpp"

#include "kernels/frame/library.hpp"

#include <cstdint>

namespace assay::kernels {

namespace {

const Library& isal() {
    static const Library library("ASSAY_LIB_ISAL", {"libisal.so.2"});
    return library;
}

} // namespace

XorGen* xor_gen() {
    static XorGen* const found = isal().function<XorGen>("xor_gen");
    return found;
}

const char* isal_name() {
    return isal().path().c_str();
}

const char* isal_missing(const Parity& p) {
    if (!isal().is_loaded()) return isal().reason();
    if (!xor_gen()) return "this libisal has no xor_gen";
    std::uintptr_t places = p.strip;
    for (const unsigned char* one : p.data) places |= reinterpret_cast<std::uintptr_t>(one);
    for (const unsigned char* one : {p.horizontal, p.vertical})
        places |= reinterpret_cast<std::uintptr_t>(one);
    if (places % 32 != 0) return "xor_gen needs strips at multiples of 32 bytes (isa-l/raid.h)";
    return nullptr;
}

} // namespace assay::kernels
