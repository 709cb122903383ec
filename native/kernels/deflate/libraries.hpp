#pragma once

/// Libraries for the format, each opened if it is installed. State that a thread needs is created once for
/// each thread.

#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

/// Result of a library's functions: number of bytes written, or `failed`.
using Compress = std::size_t(const Chunk& chunk, int level);
using Inflate = std::size_t(const Chunk& chunk, unsigned char*);

Compress zlib_compress, zlib_ng_compress, libdeflate_compress, isal_compress;
Inflate zlib_inflate, zlib_ng_inflate, libdeflate_inflate, isal_inflate;

/// Function that returns the reason why a library is not available for this work.
using Missing = const char*(const Chunks& w);
Missing zlib_missing, zlib_ng_missing, libdeflate_missing, isal_missing;

/// Returns name and version, or the file of a library that does not state its version.
const char* zlib_name();
const char* zlib_ng_name();
const char* libdeflate_name();
const char* isal_name();

} // namespace assay::kernels
