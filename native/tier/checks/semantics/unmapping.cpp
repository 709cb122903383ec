#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/events.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace assay::tier::semantics {

namespace {

/// Return the events for two pages in the middle of four while something is done to them.
std::string events_of_middle(std::uint64_t features, const std::function<int(std::byte*)>& work) {
    constexpr std::size_t pages = 4;
    std::byte* const at = sys::map(pages * page);
    if (at == nullptr) throw std::bad_alloc();
    std::memset(at, std::to_integer<int>(written), pages * page);
    std::string found;
    int status = 0;
    {
        const Userfault fault = userfault(features);
        watch(fault, at, pages * page);
        found = events_during(fault, at, [&] { status = work(at + page); });
    }
    // The middle is left alone: other memory may be mapped there by now.
    sys::unmap(at, page);
    sys::unmap(at + (pages - 1) * page, page);
    return status == 0 ? found : "an error";
}

} // namespace

/// The pager learns about unmapping by the program from events.
void unmap_raises_event(Seen& seen) {
    const auto unmap = [](std::byte* at) { return sys::unmap(at, 2 * page); };
    seen.is("requested", events_of_middle(UFFD_FEATURE_EVENT_UNMAP, unmap), "unmapped pages 1 to 2");
    seen.is("not requested", events_of_middle(0, unmap), "nothing");
}

/// The pager requests no event for discarded pages, so that discarding never blocks; the next fault reveals
/// it.
void discard_raises_event(Seen& seen) {
    const auto discard = [](std::byte* at) {
        const int status = sys::advise(at, 2 * page, MADV_DONTNEED);
        sys::unmap(at, 2 * page);
        return status;
    };
    seen.is("requested", events_of_middle(UFFD_FEATURE_EVENT_REMOVE, discard), "removed pages 1 to 2");
    seen.is("not requested", events_of_middle(0, discard), "nothing");
}

/// A discarded page of a mapped chunk faults again; the others do not.
void discarded_page_is_missing(Seen& seen) {
    for (const auto& [bytes, advice] :
         {std::pair{4 * page, MADV_NOHUGEPAGE}, std::pair{huge_page, MADV_HUGEPAGE}}) {
        const GuardedArea frame(bytes, advice), region(bytes, advice);
        const Userfault fault = userfault(UFFD_FEATURE_MOVE);
        watch(fault, region);
        frame.fill();
        seen.error(std::to_string(bytes >> 10) + " KiB moved in", error_of_move(fault, region, frame), 0);
        seen.is(
            "MADV_DONTNEED raises",
            events_during(fault, region.at(), [&region] { sys::advise(region.at(1), page, MADV_DONTNEED); }),
            "nothing");
        std::array<std::byte, 3> found{};
        seen.is("an access to pages 0 to 2 raises",
                events_during(fault, region.at(),
                              [&] {
                                  for (std::size_t i = 0; i < found.size(); ++i)
                                      found[i] = byte_at(region.at(i));
                              }),
                "fault on page 1");
        seen.byte("page 0", found[0], written);
        seen.byte("page 1", found[1], answered);
        seen.byte("page 2", found[2], written);
    }
}

} // namespace assay::tier::semantics
