#include "launcher/process/caller.hpp"

#include "common/raw.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <charconv>

namespace assay {

namespace {

constexpr std::size_t max_groups = 65536; // NGROUPS_MAX
constexpr long unchanged = -1;

/// Parse the number before `end` or before the end of the text, and remove both from the text.
std::optional<unsigned> take_number(std::string_view& text, char end) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number > INT32_MAX) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty()) return number;
    if (text.front() != end) return std::nullopt;
    text.remove_prefix(1);
    return number;
}

int errno_of(long result) {
    return raw::failed(result) ? static_cast<int>(-result) : 0;
}

} // namespace

std::optional<Caller> parse_caller(std::string_view text) {
    Caller caller;
    const auto uid = take_number(text, ':');
    const auto gid = uid ? take_number(text, ':') : std::nullopt;
    if (!uid || !gid || *uid == 0) return std::nullopt;
    caller.uid = *uid;
    caller.gid = *gid;
    while (!text.empty() && caller.groups.size() < max_groups) {
        const auto group = take_number(text, ',');
        if (!group) return std::nullopt;
        caller.groups.push_back(*group);
    }
    return caller;
}

int act_for(const Caller& caller) {
    if (::setgroups(caller.groups.size(), caller.groups.data()) != 0) return errno;
    const auto gid = static_cast<long>(caller.gid);
    if (const int error = errno_of(raw::call(SYS_setresgid, gid, gid, gid))) return error;
    if (const int error = errno_of(raw::call(SYS_setresuid, static_cast<long>(caller.uid), 0, 0)))
        return error;
    // The kernel does this when the user changes, unless fs.suid_dumpable overrides it.
    return ::prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : errno;
}

bool acts_for_another_user() {
    return ::getuid() != ::geteuid();
}

bool has_cap_sys_admin() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> capabilities{};
    if (raw::failed(raw::call(SYS_capget, raw::as_long(&header), raw::as_long(capabilities.data()))))
        return false;
    return (capabilities[0].effective >> CAP_SYS_ADMIN & 1U) != 0;
}

CallerPrivileges::CallerPrivileges() {
    if (!acts_for_another_user()) return;
    error_ = errno_of(raw::call(SYS_setresuid, unchanged, static_cast<long>(::getuid()), unchanged));
    lowered_ = error_ == 0;
}

CallerPrivileges::~CallerPrivileges() {
    if (lowered_) raw::call(SYS_setresuid, unchanged, 0, unchanged);
}

} // namespace assay
