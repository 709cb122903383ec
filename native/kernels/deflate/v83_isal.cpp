// build: -O2
#include "kernels/deflate/library_variants.hpp"

namespace assay::kernels {

namespace {

constexpr auto isal_0 = compressor<isal_compress, 0, isal_missing>(
    "lib-isal-0", "codes", "igzip of ISA-L with its built-in codes", isal_name);
constexpr auto isal_1 = compressor<isal_compress, 1, isal_missing>("lib-isal-1", "lib-isal-0",
                                                                   "dynamic codes for each block", isal_name);
constexpr auto isal_2 = compressor<isal_compress, 2, isal_missing>("lib-isal-2", "lib-isal-1",
                                                                   "a larger table of positions", isal_name);
constexpr auto isal_3 = compressor<isal_compress, 3, isal_missing>(
    "lib-isal-3", "lib-isal-2", "a map of a block's matches, from which it selects the best", isal_name);

constexpr auto isal_inflates =
    inflater<isal_inflate, isal_missing>("lib-isal-inflate", "inflate-table", "inflate of ISA-L", isal_name);

} // namespace

ASSAY_VARIANT(isal_0);
ASSAY_VARIANT(isal_1);
ASSAY_VARIANT(isal_2);
ASSAY_VARIANT(isal_3);
ASSAY_VARIANT(isal_inflates);

} // namespace assay::kernels
