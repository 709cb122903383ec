#pragma once

/// Libraries for the format, each loaded if it is installed. The state that a thread needs is created once
/// per thread.

#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

/// Function of a library that returns the number of bytes written, or `failed`.
using Compress = std::size_t(const Chunk& chunk, int level);
using Inflate = std::size_t(const Chunk& chunk, unsigned char*);

Compress zlib_compress, zlib_ng_compress, libdeflate_compress, isal_compress;
Inflate zlib_inflate, zlib_ng_inflate, libdeflate_inflate, isal_inflate;

/// Function that returns the reason why a library is not available for this work.
using Missing = const char*(const Chunks& w);
Missing zlib_missing, zlib_ng_missing, libdeflate_missing, isal_missing;

/// Return a library's name and version, or its file name if it does not report its version.
const char* zlib_name();
const char* zlib_ng_name();
const char* libdeflate_name();
const char* isal_name();

} // namespace assay::kernels
