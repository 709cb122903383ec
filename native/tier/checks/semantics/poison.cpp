#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/children.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <functional>
#include <string>

namespace assay::tier::semantics {

/// Accesses to unreadable data terminate the program; no content is invented.
void poison_ends_in_sigbus(Seen& seen) {
    static_cast<void>(userfault(UFFD_FEATURE_POISON)); // Skip here, not in a child process.
    const auto poisoned = [](const std::function<int(std::byte*)>& touch) {
        return ending(forked([&touch] {
            const GuardedArea region(page);
            const Userfault fault = userfault(UFFD_FEATURE_POISON);
            watch(fault, region);
            const int error = fault.poison(region.at(), page).error;
            return error != 0 ? error : touch(region.at());
        }));
    };
    seen.is("untouched", poisoned([](std::byte*) { return 0; }), "ends with 0");
    seen.is("read", poisoned([](std::byte* at) { return std::to_integer<int>(byte_at(at)); }), "SIGBUS");
    seen.is("written", poisoned([](std::byte* at) {
                write_byte(at);
                return 0;
            }),
            "SIGBUS");
}

} // namespace assay::tier::semantics
