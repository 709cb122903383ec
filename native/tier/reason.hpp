#pragma once

#include <exception>
#include <new>

namespace assay::tier {

/// Why there is no tier, and what to do: what an error says, where it says anything.
[[nodiscard]] inline const char* reason_of(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
    return "addresses, or memory that may be promised, are used up (ulimit -v, vm.overcommit_memory=2): "
           "raise "
           "the limit, or set ASSAY_TIER_ADDRESSES";
}

} // namespace assay::tier
