#pragma once

namespace assay::tier {

/// \throws std::runtime_error where no swap is in use, so that what is paged out has no place to go.
void require_swap();

/// \throws std::runtime_error where the kernel pages nothing out on request. \throws std::bad_alloc.
void require_page_out();

/// Memory of this process goes to swap, some of it, for once.
///
/// \throws std::runtime_error where it does not, though all that is asked for above is there.
/// \throws std::system_error where there is no /proc. \throws std::bad_alloc.
void test_page_out();

} // namespace assay::tier
