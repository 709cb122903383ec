#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/events.hpp"
#include "tier/checks/semantics/pipe.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 // Linux 5.11
#endif

namespace assay::tier::semantics {

namespace {

/// Let the kernel read from a missing page and write to one.
void by_system_calls(Seen& seen, std::byte* at, int relied_on) {
    const Pipe pipe;
    constexpr std::array<char, 8> some{};
    seen.error("write(2) from it", error_of(::write(pipe.in.get(), at, some.size())), relied_on);
    const auto wrote = ::write(pipe.in.get(), some.data(), some.size());
    if (wrote != static_cast<ssize_t>(some.size())) throw std::runtime_error("a pipe took nothing");
    seen.error("read(2) to it", error_of(::read(pipe.out.get(), at, some.size())), relied_on);
}

} // namespace

/// The pager needs the privilege for faults within system calls: without it these calls fail.
void system_call_user_mode_only(Seen& seen) {
    const GuardedArea region(page);
    const Fd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
    uffdio_api api{UFFD_API, 0, 0};
    if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0)
        throw Skipped(std::string("no userfaultfd for user mode only: ") + std::strerror(errno));
    uffdio_register range{
        {reinterpret_cast<std::uintptr_t>(region.at()), page}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (::ioctl(fd.get(), UFFDIO_REGISTER, &range) != 0)
        throw std::system_error(errno, std::generic_category(), "UFFDIO_REGISTER");
    by_system_calls(seen, region.at(), EFAULT);
}

/// Faults are not resolved by signal handlers in the faulting threads, although that would be faster: system
/// calls would fail.
void system_call_sigbus_mode(Seen& seen) {
    const Evicted evicted(UFFD_FEATURE_SIGBUS);
    by_system_calls(seen, evicted.region.at(), EFAULT);
}

/// With full privileges, a system call waits for the pager like an instruction.
void system_call_answered(Seen& seen) {
    const GuardedArea region(2 * page);
    const Pipe pipe;
    const Userfault fault = userfault(0);
    watch(fault, region);
    ssize_t wrote = 0, read = 0;
    const std::byte* const from = region.at();
    seen.is("write(2) tells",
            events_during(fault, from, [&] { wrote = ::write(pipe.in.get(), region.at(0), 8); }),
            "fault on page 0");
    seen.is("it writes", std::to_string(wrote), "8");
    if (wrote != 8) return;
    seen.is("read(2) tells",
            events_during(fault, from, [&] { read = ::read(pipe.out.get(), region.at(1), 8); }),
            "fault on page 1");
    seen.is("it reads", std::to_string(read), "8");
    if (read == 8) seen.byte("contents", byte_at(region.at(1)), answered);
}

} // namespace assay::tier::semantics
