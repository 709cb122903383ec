// build: -O2
#include "kernels/deflate/library_variants.hpp"

namespace assay::kernels {

namespace {

constexpr auto libdeflate_1 = compressor<libdeflate_compress, 1, libdeflate_missing>(
    "lib-libdeflate-1", "codes", "libdeflate, whole buffers at once, its fastest level", libdeflate_name);
constexpr auto libdeflate_6 = compressor<libdeflate_compress, 6, libdeflate_missing>(
    "lib-libdeflate-6", "lib-libdeflate-1", "its default level: chains of positions, and lazy matching",
    libdeflate_name);
constexpr auto libdeflate_9 = compressor<libdeflate_compress, 9, libdeflate_missing>(
    "lib-libdeflate-9", "lib-libdeflate-6", "more positions, and lazy matching over the next two",
    libdeflate_name);
constexpr auto libdeflate_12 = compressor<libdeflate_compress, 12, libdeflate_missing>(
    "lib-libdeflate-12", "lib-libdeflate-9", "the cheapest of many ways through a block, in several passes",
    libdeflate_name);

constexpr auto libdeflate_inflates = inflater<libdeflate_inflate, libdeflate_missing>(
    "lib-libdeflate-inflate", "inflate-table", "libdeflate, whole buffers at once", libdeflate_name);

} // namespace

ASSAY_VARIANT(libdeflate_1);
ASSAY_VARIANT(libdeflate_6);
ASSAY_VARIANT(libdeflate_9);
ASSAY_VARIANT(libdeflate_12);
ASSAY_VARIANT(libdeflate_inflates);

} // namespace assay::kernels
