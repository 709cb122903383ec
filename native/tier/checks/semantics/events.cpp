#include "tier/checks/semantics/events.hpp"

#include "tier/base/event.hpp"
#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"

#include <poll.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

namespace assay::tier::semantics {

namespace {

/// Describe a message relative to the first byte of an area.
std::string describe(const uffd_msg& message, const std::byte* from) {
    const auto number = [from](std::uint64_t at) {
        return std::to_string((at - reinterpret_cast<std::uintptr_t>(from)) / page);
    };
    const auto range = [&](const char* what) {
        const auto& one = message.arg.remove;
        return what + (" pages " + number(one.start)) + " to " + number(one.end - 1);
    };
    switch (message.event) {
    case UFFD_EVENT_PAGEFAULT:
        return "fault on page " + number(message.arg.pagefault.address);
    case UFFD_EVENT_UNMAP:
        return range("unmapped");
    case UFFD_EVENT_REMOVE:
        return range("removed");
    default:
        return "event " + std::to_string(message.event);
    }
}

} // namespace

std::string events_during(const Userfault& fault, const std::byte* from, const std::function<void()>& work) {
    const std::vector<std::byte> answer(page, answered);
    const Event ended;
    std::thread worker([&] {
        work();
        ended.signal();
    });
    std::array<pollfd, 2> ready{{{fault.fd(), POLLIN, 0}, {ended.fd(), POLLIN, 0}}};
    std::string all;
    while (ready[1].revents == 0) {
        ::poll(ready.data(), ready.size(), -1);
        std::array<uffd_msg, 16> room{};
        for (const uffd_msg& message : fault.read(room)) {
            all += (all.empty() ? "" : ", ") + describe(message, from);
            if (message.event != UFFD_EVENT_PAGEFAULT) continue;
            // NOLINTNEXTLINE: the kernel gives a number
            auto* const at = reinterpret_cast<std::byte*>(message.arg.pagefault.address / page * page);
            if (fault.copy(at, answer.data(), page).error != 0) fault.wake(at, page);
        }
    }
    worker.join();
    return all.empty() ? "nothing" : all;
}

} // namespace assay::tier::semantics
