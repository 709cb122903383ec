// build: -O2
#include "kernels/deflate/library_variants.hpp"

namespace assay::kernels {

namespace {

constexpr auto zlib_1 = compressor<zlib_compress, 1, zlib_missing>(
    "lib-zlib-1", "codes", "deflate of zlib, its fastest level", zlib_name);
constexpr auto zlib_6 = compressor<zlib_compress, 6, zlib_missing>(
    "lib-zlib-6", "lib-zlib-1", "its default level: more positions of a hash are tried, and lazy matching",
    zlib_name);
constexpr auto zlib_9 = compressor<zlib_compress, 9, zlib_missing>(
    "lib-zlib-9", "lib-zlib-6", "its highest level: more positions of a hash are tried", zlib_name);

constexpr auto zlib_inflates =
    inflater<zlib_inflate, zlib_missing>("lib-zlib-inflate", "inflate-table", "inflate of zlib", zlib_name);

} // namespace

ASSAY_VARIANT(zlib_1);
ASSAY_VARIANT(zlib_6);
ASSAY_VARIANT(zlib_9);
ASSAY_VARIANT(zlib_inflates);

} // namespace assay::kernels
