#pragma once

namespace assay::tier {

/// Gives the calling thread a descriptor table of its own, which only threads that it starts share.
///
/// Programs close descriptors of other owners, also by system calls that no library sees. No other thread can
/// close the descriptors that this one opens from now on, and no child of the program inherits them. Nothing
/// of the program is kept open: a pipe ends for its reader when the program closes it.
///
/// \param kept a descriptor that stays in the new table; -1 for none.
/// \throws std::system_error.
void unshare_descriptors(int kept = -1);

} // namespace assay::tier
