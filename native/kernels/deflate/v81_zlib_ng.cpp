// build: -O2
#include "kernels/deflate/library_variants.hpp"

namespace assay::kernels {

namespace {

constexpr auto zlib_ng_1 = compressor<zlib_ng_compress, 1, zlib_ng_missing>(
    "lib-zlib-ng-1", "codes", "deflate of zlib-ng, its fastest level", zlib_ng_name);
constexpr auto zlib_ng_6 = compressor<zlib_ng_compress, 6, zlib_ng_missing>(
    "lib-zlib-ng-6", "lib-zlib-ng-1", "its default level: more positions of a hash are tried", zlib_ng_name);
constexpr auto zlib_ng_9 = compressor<zlib_ng_compress, 9, zlib_ng_missing>(
    "lib-zlib-ng-9", "lib-zlib-ng-6", "its highest level: more positions of a hash are tried", zlib_ng_name);

constexpr auto zlib_ng_inflates = inflater<zlib_ng_inflate, zlib_ng_missing>(
    "lib-zlib-ng-inflate", "inflate-table", "inflate of zlib-ng", zlib_ng_name);

} // namespace

ASSAY_VARIANT(zlib_ng_1);
ASSAY_VARIANT(zlib_ng_6);
ASSAY_VARIANT(zlib_ng_9);
ASSAY_VARIANT(zlib_ng_inflates);

} // namespace assay::kernels
