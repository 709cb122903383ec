#pragma once

namespace assay::tier {

/// Check that swap is in use. \throws std::runtime_error otherwise.
void require_swap();

/// Check that the kernel supports MADV_PAGEOUT. \throws std::runtime_error otherwise; std::bad_alloc.
void require_page_out();

/// Page out test memory.
///
/// \throws std::runtime_error if it stays in memory although both checks above succeed.
/// \throws std::system_error without /proc. \throws std::bad_alloc.
void test_page_out();

} // namespace assay::tier
