#include "launcher/grace.hpp"

#include "launcher/child.hpp"
#include "launcher/proctree.hpp"
#include "launcher/stdio.hpp"
#include "launcher/steps.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {

namespace {

constexpr const char* nothing = "/dev/null";

/// What the command runs as: the caller's environment and folder, without the settings of the launch, which
/// are those of the program alone.
Plan plan_of_command(const Plan& launched, pid_t program) {
    Plan plan;
    plan.argv = launched.stop;
    plan.cwd = launched.cwd;
    plan.env_set.emplace_back("ASSAY_PID", std::to_string(program));
    plan.stdin_path = plan.stdout_path = plan.stderr_path = nothing;
    return plan;
}

} // namespace

Nanos Grace::ask(Nanos now) {
    asked_ = Asked{};
    asked_->at = now;
    asked_->by_command = start_command();
    if (!asked_->by_command) signal_all(SIGTERM);
    return now + from_seconds(launch_.plan.grace_s);
}

bool Grace::start_command() {
    if (launch_.plan.stop.empty()) return false;
    const Plan plan = plan_of_command(launch_.plan, program_);
    Stdio stdio;
    Failure failure;
    if (!stdio.open(plan, failure)) return false;
    const Program program(plan, launch_.environment);
    Steps steps;
    steps.add_parent_death();
    steps.add_internal("own_process_group", SYS_setpgid, {0, 0});
    stdio.add_to(steps, plan);
    steps.add_plan(plan);
    steps.add_caller_signals(launch_.caller_ignores_children, launch_.caller_signals);
    // A copy of its own memory: the program may not have come to exec, and stands on what we would share.
    Progress progress;
    const long pid = fork_into(steps, program, progress, nullptr);
    if (pid <= 0) return false;
    command_ = static_cast<pid_t>(pid);
    return true;
}

void Grace::signal_all(int signal) {
    constexpr int rounds = 8; // a process may fork while we look; what it makes now is in the next round
    std::vector<pid_t> told;
    for (int round = 0; round < rounds; ++round) {
        bool more = false;
        for (const pid_t pid : living(*launch_.containment)) {
            if (pid == command_ || std::find(told.begin(), told.end(), pid) != told.end()) continue;
            const auto seen = proc_stat(pid);
            if (!seen) continue;
            told.push_back(pid);
            more = true;
            const auto still_ours = [&](pid_t now) {
                const auto stat = proc_stat(now);
                return stat && stat->start_ticks == seen->start_ticks;
            };
            signal_checked(pid, signal, still_ours);
            signal_checked(pid, SIGCONT, still_ours); // one that is stopped would not hear of it
        }
        if (!more) return;
    }
}

void Grace::look() {
    if (command_ == 0) return;
    int status = 0;
    if (::waitpid(command_, &status, WNOHANG) != command_) return;
    command_ = 0;
    asked_->status = status;
    if (status != 0) signal_all(SIGTERM);
}

bool Grace::over() {
    const auto left = living(*launch_.containment);
    return std::all_of(left.begin(), left.end(), [&](pid_t pid) { return pid == program_; });
}

void Grace::close(Nanos now, bool killed) {
    if (!asked_ || asked_->over != never) return;
    asked_->over = now;
    asked_->killed = killed;
    if (command_ == 0) return;
    ::kill(-command_, SIGKILL);
    ::kill(command_, SIGKILL); // it may not have come to have a group of its own
    ::waitpid(command_, nullptr, 0);
    command_ = 0;
}

} // namespace assay
