#pragma once

#include <cstddef>

namespace assay::kernels {

/// Move the pages of a range to one NUMA node, and bind them there (mbind(2) with MPOL_BIND). Faster memory,
/// such as HBM, is a separate node.
///
/// \throws UsageError if the node is missing, does not have enough memory, or may not be used by the process.
void place_on_node(void* begin, std::size_t bytes, int node);

} // namespace assay::kernels
