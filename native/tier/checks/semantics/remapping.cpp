#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/events.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <cerrno>
#include <system_error>

namespace assay::tier::semantics {

/// Without UFFDIO_MOVE, a chunk is evicted by moving its page table entries: the content lies at the other
/// address, and later accesses to the first one fault.
void remapped_range_faults(Seen& seen) {
    const GuardedArea region(3 * page), place(3 * page);
    const Userfault fault = userfault(UFFD_FEATURE_EVENT_UNMAP);
    write_byte(region.at(0));
    write_byte(region.at(2));
    watch(fault, region);
    int error = 0;
    seen.is("leaving tells",
            events_during(fault, region.at(),
                          [&] { error = sys::move_pages(place.at(), region.at(), region.bytes()); }),
            "nothing");
    seen.error("it leaves", error, 0);
    if (error != 0) return;
    seen.byte("the first", byte_at(place.at(0)), written);
    seen.byte("one that was missing", byte_at(place.at(1)), std::byte{0});
    seen.byte("the third", byte_at(place.at(2)), written);
    std::byte found{};
    seen.is("a touch tells", events_during(fault, region.at(), [&] { found = byte_at(region.at(2)); }),
            "fault on page 2");
    seen.byte("what is found", found, answered);
}

/// A chunk with differing protections cannot be remapped, and stays as a whole.
void differing_protections_do_not_remap(Seen& seen) {
    const GuardedArea region(2 * page), place(2 * page);
    const Userfault fault = userfault(0);
    region.fill();
    watch(fault, region);
    if (::mprotect(region.at(1), page, PROT_READ) != 0)
        throw std::system_error(errno, std::generic_category(), "mprotect");
    seen.error("both", sys::move_pages(place.at(), region.at(), region.bytes()), EFAULT);
    seen.byte("the first", byte_at(region.at(0)), written);
    seen.byte("the second", byte_at(region.at(1)), written);
}

} // namespace assay::tier::semantics
