#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace assay {

/// Whom a launcher that is root works for: the program, and every file that the plan names, is that user's.
struct Caller {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

/// From "UID:GID:GROUP,GROUP,...". Nothing where it is anything else, or root.
std::optional<Caller> parse_caller(std::string_view text);

/// From now on this process works for the caller: it keeps the rights of root, while its real user is the
/// caller, which may signal it so, as a set-user-ID program. 0, or the errno.
int act_for(const Caller& caller);

/// Whether this process works for somebody else than root.
bool acts_for_another_user();

/// Whether this process has CAP_SYS_ADMIN in its user namespace.
bool has_cap_sys_admin();

/// While it lives this process has the rights of whom it works for, and none beyond. The effective user, not
/// the one for files: what checks for root by itself (/proc/sys, a write to an open file of cgroupfs) looks
/// at that one.
class CallerPrivileges {
  public:
    CallerPrivileges();
    CallerPrivileges(const CallerPrivileges&) = delete;
    CallerPrivileges& operator=(const CallerPrivileges&) = delete;
    ~CallerPrivileges();

    /// 0, or the errno: the rights are then those of root still.
    [[nodiscard]] int error() const { return error_; }

  private:
    bool lowered_ = false;
    int error_ = 0;
};

} // namespace assay
