#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>

namespace assay::tier {

/// Return cause and next step of an error, as text.
[[nodiscard]] inline const char* error_text(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
    return "address space or committed memory is exhausted (ulimit -v, vm.overcommit_memory=2): raise "
           "the limit, or set ASSAY_TIER_ADDRESSES";
}

/// Return the message for a failed reservation of address space.
[[nodiscard]] inline std::string address_space_error(std::size_t bytes) {
    return std::to_string(bytes >> 30U) + " GiB of address space are not available (ulimit -v): raise the "
                                          "limit, or set ASSAY_TIER_ADDRESSES";
}

} // namespace assay::tier
