#include "launcher/process/stdio.hpp"

#include "launcher/process/caller.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace assay {

bool Stdio::open(const Plan& plan, Failure& failure) {
    const CallerPrivileges privileges;
    if (const int error = privileges.error()) {
        failure = {"user", error, explain("user", error, plan)};
        return false;
    }
    return open_one(plan.stdin_path, O_RDONLY, "stdin", in_, plan, failure) &&
           open_one(plan.stdout_path, O_WRONLY | O_CREAT | O_TRUNC, "stdout", out_, plan, failure) &&
           (plan.stderr_path ==
                plan.stdout_path || // one open file description, so that neither overwrites the other
            open_one(plan.stderr_path, O_WRONLY | O_CREAT | O_TRUNC, "stderr", err_, plan, failure));
}

void Stdio::add_to(Steps& steps, const Plan& plan) const {
    if (in_) steps.add_stdio("stdin", in_.get(), STDIN_FILENO);
    if (out_) steps.add_stdio("stdout", out_.get(), STDOUT_FILENO);
    if (err_)
        steps.add_stdio("stderr", err_.get(), STDERR_FILENO);
    else if (out_ && plan.stderr_path)
        steps.add_stdio("stderr", out_.get(), STDERR_FILENO);
}

std::vector<int> Stdio::outputs() const {
    std::vector<int> files;
    if (out_) files.push_back(out_.get());
    if (err_) files.push_back(err_.get());
    return files;
}

bool Stdio::open_one(const std::optional<std::string>& path, int flags, const char* stage, Fd& fd,
                     const Plan& plan, Failure& failure) {
    if (!path) return true;
    // O_NONBLOCK: opening a FIFO without a peer must not block the launch.
    fd = Fd{::open(path->c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600)};
    if (fd && ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK) == 0) return true;
    failure = {stage, errno, explain(stage, errno, plan)};
    return false;
}

} // namespace assay
