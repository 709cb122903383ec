#pragma once

#include <cstddef>

namespace assay::kernels {

/// Moves the pages that hold so many bytes to one node of memory, and keeps them there (mbind(2) with
/// MPOL_BIND): memory that is faster than the rest, such as HBM, is a node of its own.
///
/// \throws BadWords where there is no such node, its memory is not enough, or the process may not use it.
void place_on_node(void* begin, std::size_t bytes, int node);

} // namespace assay::kernels
