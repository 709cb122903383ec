#pragma once

#include <cstddef>

namespace assay::kernels {

/// Moves the pages of a range to one NUMA node, and binds them there (mbind(2) with MPOL_BIND). Memory that
/// is faster than the rest, such as HBM, is a node of its own.
///
/// \throws UsageError for a missing node, without enough memory there, or if the process may not use it.
void place_on_node(void* begin, std::size_t bytes, int node);

} // namespace assay::kernels
