// build: -O2 -fopenmp
#include "kernels/deflate/codec/threads.hpp"
#include "kernels/deflate/library_variants.hpp"

namespace assay::kernels {

namespace {

constexpr const char* shared = "chunks shared among all threads";

constexpr auto isal_threads =
    by_library("lib-isal-1-threads", "lib-isal-1", shared, side_by_side<at_level<isal_compress, 1>>,
               missing_compressor<isal_missing>, isal_name);
constexpr auto libdeflate_threads = by_library("lib-libdeflate-6-threads", "lib-libdeflate-6", shared,
                                               side_by_side<at_level<libdeflate_compress, 6>>,
                                               missing_compressor<libdeflate_missing>, libdeflate_name);
constexpr auto isal_inflate_threads =
    by_library("lib-isal-inflate-threads", "lib-isal-inflate", shared, side_by_side<isal_inflate>,
               missing_inflater<isal_missing>, isal_name);

} // namespace

ASSAY_VARIANT(isal_threads);
ASSAY_VARIANT(libdeflate_threads);
ASSAY_VARIANT(isal_inflate_threads);

} // namespace assay::kernels
