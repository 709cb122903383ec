#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace assay::tier::semantics {

/// Fork a child that may die; a hanging one is terminated by SIGALRM.
pid_t forked(const std::function<int()>& work);
std::string ending(pid_t child);

} // namespace assay::tier::semantics
