#include "kernels/erasure-code/isal.hpp"

#include "kernels/frame/library.hpp"

namespace assay::kernels {

namespace {

typedef void EcInitTables(int k, int rows, unsigned char* a, unsigned char* tables);

const Library& isal() {
    static const Library library("ASSAY_LIB_ISAL", {"libisal.so.2"});
    return library;
}

} // namespace

EcEncodeData* ec_encode_data() {
    static EcEncodeData* const found = isal().function<EcEncodeData>("ec_encode_data");
    return found;
}

bool isal_tables(const unsigned char* coefficients_of, unsigned char* tables) {
    auto* const make = isal().function<EcInitTables>("ec_init_tables");
    if (make) make(sources, targets, const_cast<unsigned char*>(coefficients_of), tables);
    return make != nullptr;
}

const char* isal_name() {
    return isal().path().c_str();
}

const char* isal_missing(const Code& c) {
    if (!isal().is_loaded()) return isal().reason();
    return ec_encode_data() && c.isal ? nullptr : "this libisal has no ec_encode_data or ec_init_tables";
}

} // namespace assay::kernels
