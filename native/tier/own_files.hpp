#pragma once

namespace assay::tier {

/// Gives the calling thread a descriptor table of its own, which only threads that it starts share.
///
/// Programs close what they did not open, also by system calls that no library sees. What this thread opens
/// from now on no other thread can close, and no child of the program inherits it. Nothing of the program is
/// kept open: a pipe ends for its reader when the program closes it.
///
/// \param kept a descriptor that stays in the new table; -1 for none.
/// \throws std::system_error.
void own_files(int kept = -1);

} // namespace assay::tier
