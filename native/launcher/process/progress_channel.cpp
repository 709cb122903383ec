#include "launcher/process/progress_channel.hpp"

#include "launcher/process/caller.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace assay {

namespace {

constexpr const char* channel_step = "progress";
constexpr const char* number_variable = "ASSAY_PROGRESS_FD";
constexpr const char* inode_variable = "ASSAY_PROGRESS_INODE";
constexpr const char* path_variable = "ASSAY_PROGRESS_PATH";

// Scripts use the numbers below 10. From 64 on (NR_OPEN_DEFAULT of the kernel), every fork of the tree would
// allocate and copy a separate table of descriptors.
constexpr int lowest_channel_fd = 10;
constexpr int highest_channel_fd = 63;

/// Move a descriptor to the highest free number of the range. Return nothing if no number is free, or if
/// RLIMIT_NOFILE excludes all of them.
Fd at_high_number(const Fd& fd) {
    for (int number = highest_channel_fd; number >= lowest_channel_fd; --number) {
        Fd copy{::fcntl(fd.get(), F_DUPFD_CLOEXEC, number)};
        if (copy.get() == number) return copy;
    }
    return {};
}

/// Open a FIFO that has a reader. The open file description is separate, so no descriptor that the program
/// shares becomes non-blocking. It can also read: a FIFO that its writer can read raises no SIGPIPE when the
/// other reader ends (fifo(7)).
Fd open_fifo(const std::string& path) {
    constexpr int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    const Fd with_reader{::open(path.c_str(), O_WRONLY | flags)}; // ENXIO without a reader
    return with_reader ? Fd{::open(path.c_str(), O_RDWR | flags)} : Fd{};
}

/// Format the identity of a file with a constant length: the size of the environment must not vary.
std::string format_identity(unsigned long long device, unsigned long long inode) {
    char text[48] = {};
    static_cast<void>(std::snprintf(text, sizeof text, "%020llu:%020llu", device, inode));
    return text;
}

void set_variable(Plan& plan, const char* name, std::string value) {
    std::erase_if(plan.env_set, [&](const auto& pair) { return pair.first == name; });
    plan.env_set.emplace_back(name, std::move(value));
}

} // namespace

bool ProgressChannel::open(const Plan& plan, Failure& failure) {
    if (!plan.progress_path) return true;
    const CallerPrivileges privileges;
    if (const int error = privileges.error()) {
        failure = {"user", error, explain("user", error, plan)};
        return false;
    }
    fd_ = open_fifo(*plan.progress_path);
    struct stat file{};
    if (!fd_ || ::fstat(fd_.get(), &file) != 0) {
        failure = {channel_step, errno, explain(channel_step, errno, plan)};
        return false;
    }
    if (!S_ISFIFO(file.st_mode)) {
        failure = {channel_step, 0, '"' + *plan.progress_path + "\" is not a FIFO; create it with mkfifo(1)"};
        return false;
    }
    device_ = file.st_dev;
    inode_ = file.st_ino;
    if (Fd high = at_high_number(fd_)) {
        fd_ = std::move(high);
        inherited_ = true;
    }
    return true;
}

void ProgressChannel::publish(Plan& plan) const {
    if (!fd_) return;
    set_variable(plan, number_variable, std::to_string(inherited_ ? fd_.get() : -1));
    set_variable(plan, inode_variable, format_identity(device_, inode_));
    set_variable(plan, path_variable, *plan.progress_path);
}

void ProgressChannel::add_to(Steps& steps) const {
    if (inherited_) steps.add_internal(channel_step, SYS_fcntl, {fd_.get(), F_SETFD, 0});
}

} // namespace assay
