#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Control group in one hierarchy, created by us and locked. The kernel drops the lock with the last of our
/// processes, so that other launchers can detect an abandoned group. The program may run as our user and
/// revoke permissions (chmod 000); opening a file restores them.
class CgroupFolder {
  public:
    /// Create the folder `path`, relative to the open folder `root`, which must outlive this object. On
    /// failure return nothing and set errno.
    static std::optional<CgroupFolder> create(int root, std::string path);
    /// Reopen a folder that this process created before it executed a new image.
    static std::optional<CgroupFolder> reopen(int root, std::string path);
    /// Adopt a folder of another launcher. Return nothing if that launcher is alive or belonged to another
    /// user.
    static std::optional<CgroupFolder> adopt_abandoned(int root, std::string path);

    CgroupFolder(CgroupFolder&&) = default;
    CgroupFolder& operator=(CgroupFolder&&) = default;

    [[nodiscard]] int fd() const { return folder_.get(); }
    [[nodiscard]] const std::string& path() const { return path_; }

    [[nodiscard]] Fd open(const char* file, int flags) const;
    [[nodiscard]] bool has(const char* file) const;
    [[nodiscard]] std::optional<std::string> read(const char* file) const;
    [[nodiscard]] std::optional<std::int64_t> read_number(const char* file) const;
    /// Write to a file. Return 0 or the errno.
    [[nodiscard]] int write(const char* file, std::string_view text) const;

    /// Return the processes in this group and in groups that the program created below it.
    [[nodiscard]] std::vector<pid_t> processes() const;
    /// Remove this folder and those below it. Return true if it is gone.
    bool remove();

  private:
    CgroupFolder(int root, std::string path, Fd folder)
        : root_(root), path_(std::move(path)), folder_(std::move(folder)) {}

    int root_ = -1;
    std::string path_;
    Fd folder_;
};

} // namespace assay
