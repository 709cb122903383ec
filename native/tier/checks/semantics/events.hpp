#pragma once

#include "tier/fault/userfault.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace assay::tier::semantics {

/// Return the messages during the actions of another thread; this thread reads them and resolves faults, as
/// the pager thread does.
std::string events_during(const Userfault& fault, const std::byte* from, const std::function<void()>& work);

} // namespace assay::tier::semantics
