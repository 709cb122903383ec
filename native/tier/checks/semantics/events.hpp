#pragma once

#include "tier/fault/userfault.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace assay::tier::semantics {

/// What the kernel tells while a thread does something; this one reads it and answers faults, as the pager's
/// does.
std::string told_during(const Userfault& fault, const std::byte* from, const std::function<void()>& work);

} // namespace assay::tier::semantics
