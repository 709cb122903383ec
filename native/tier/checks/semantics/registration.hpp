#pragma once

#include "tier/checks/semantics/area.hpp"
#include "tier/fault/userfault.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier::semantics {

/// Open a userfaultfd. \throws Skipped if the kernel or the privileges do not allow it.
Userfault userfault(std::uint64_t features);

void watch(const Userfault& fault, std::byte* at, std::size_t bytes);
void watch(const Userfault& fault, const GuardedArea& area);

int error_of_move(const Userfault& fault, const GuardedArea& to, const GuardedArea& from);

/// Page that was written and then evicted in the way of the pager.
struct Evicted {
    explicit Evicted(std::uint64_t features);

    GuardedArea region{page}, place{page};
    Userfault fault;
};

} // namespace assay::tier::semantics
