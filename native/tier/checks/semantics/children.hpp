#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace assay::tier::semantics {

/// A child that may die; where it hangs, it ends by SIGALRM.
pid_t forked(const std::function<int()>& work);
std::string ending(pid_t child);

} // namespace assay::tier::semantics
