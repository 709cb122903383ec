#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace assay {

/// User that a launcher with root privileges acts for. The program runs as this user, with whose permissions
/// every file of the plan is opened.
struct Caller {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

/// Parse "UID:GID:GROUP,GROUP,...". Return nothing if the text is invalid or names root.
std::optional<Caller> parse_caller(std::string_view text);

/// Act for the caller from now on. The process keeps the privileges of root, but its real user becomes the
/// caller, which may therefore signal it, as it may signal a set-user-ID program. Return 0 or the errno.
int act_for(const Caller& caller);

/// Return whether this process acts for a user other than root.
bool acts_for_another_user();

/// Return whether this process has CAP_SYS_ADMIN in its user namespace.
bool has_cap_sys_admin();

/// Limits this process to the privileges of the caller during its lifetime. It changes the effective user and
/// not only the file system user, because some files check for root themselves (/proc/sys, open files of
/// cgroupfs).
class CallerPrivileges {
  public:
    CallerPrivileges();
    CallerPrivileges(const CallerPrivileges&) = delete;
    CallerPrivileges& operator=(const CallerPrivileges&) = delete;
    ~CallerPrivileges();

    /// Return 0 or the errno; after an error the privileges are still those of root.
    [[nodiscard]] int error() const { return error_; }

  private:
    bool lowered_ = false;
    int error_ = 0;
};

} // namespace assay
