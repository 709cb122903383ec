#pragma once

namespace assay::tier {

/// Give the calling thread a private descriptor table, shared only with threads that it starts.
///
/// Programs close descriptors that they did not open, also by direct system calls. In a private table no
/// other thread can close them, and no child process inherits them. The program's own descriptors are closed
/// in the new table, so that a reader of a pipe sees its end when the program closes it.
///
/// \param kept descriptor to keep in the new table; -1 for none.
/// \throws std::system_error.
void unshare_descriptors(int kept = -1);

} // namespace assay::tier
