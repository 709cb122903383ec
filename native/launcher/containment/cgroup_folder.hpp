#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One control group in one hierarchy, made by us and held by a lock on it, which the kernel drops with the
/// last of our processes: so that others can tell whether it was left. The program may run as our own user
/// and take permissions away from it (chmod 000): whoever opens a file here gives them back first.
class CgroupFolder {
  public:
    /// `path` is relative to the open folder `root`, which must outlive this. Nothing, with errno set, on
    /// failure.
    static std::optional<CgroupFolder> create(int root, std::string path);
    /// One that is ours, from before this image of us was executed.
    static std::optional<CgroupFolder> reopen(int root, std::string path);
    /// One that another launcher has made. Nothing where that is still there, or was another user's.
    static std::optional<CgroupFolder> adopt_abandoned(int root, std::string path);

    CgroupFolder(CgroupFolder&&) = default;
    CgroupFolder& operator=(CgroupFolder&&) = default;

    [[nodiscard]] int fd() const { return folder_.get(); }
    [[nodiscard]] const std::string& path() const { return path_; }

    [[nodiscard]] Fd open(const char* file, int flags) const;
    [[nodiscard]] bool has(const char* file) const;
    [[nodiscard]] std::optional<std::string> read(const char* file) const;
    [[nodiscard]] std::optional<std::int64_t> read_number(const char* file) const;
    /// 0, or the errno.
    [[nodiscard]] int write(const char* file, std::string_view text) const;

    /// Processes in it and in the groups that the program made below it.
    [[nodiscard]] std::vector<pid_t> processes() const;
    /// This folder and those below it; true when gone.
    bool remove();

  private:
    CgroupFolder(int root, std::string path, Fd folder)
        : root_(root), path_(std::move(path)), folder_(std::move(folder)) {}

    int root_ = -1;
    std::string path_;
    Fd folder_;
};

} // namespace assay
