#pragma once

/// Libraries for the format, each opened where it is there. What a thread needs of one is made once for it.

#include "kernels/deflate/work.hpp"

namespace assay::kernels {

/// How a library's functions end: bytes that were written, or `failed`.
using Compress = std::size_t(const Chunk& chunk, int level);
using Inflate = std::size_t(const Chunk& chunk, unsigned char*);

Compress zlib_compress, zlib_ng_compress, libdeflate_compress, isal_compress;
Inflate zlib_inflate, zlib_ng_inflate, libdeflate_inflate, isal_inflate;

/// Why it cannot be had for this work.
using Missing = const char*(const Chunks& w);
Missing zlib_missing, zlib_ng_missing, libdeflate_missing, isal_missing;

/// Name and version, or the file of one that does not tell it.
const char* zlib_name();
const char* zlib_ng_name();
const char* libdeflate_name();
const char* isal_name();

} // namespace assay::kernels
