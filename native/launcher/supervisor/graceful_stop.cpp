#include "launcher/supervisor/graceful_stop.hpp"

#include "launcher/process/process_tree.hpp"
#include "launcher/process/spawn.hpp"
#include "launcher/process/stdio.hpp"
#include "launcher/process/steps.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {

namespace {

constexpr const char* null_device = "/dev/null";

/// Return the plan of the stop command: environment and working folder of the caller. The settings of the
/// launch apply to the program alone.
Plan plan_of_command(const Plan& launched, const std::string& pids) {
    Plan plan;
    plan.argv = launched.stop;
    plan.cwd = launched.cwd;
    plan.env_set.emplace_back("ASSAY_PID", pids);
    plan.stdin_path = plan.stdout_path = plan.stderr_path = null_device;
    return plan;
}

} // namespace

Nanos GracefulStop::request_end(Nanos now) {
    result_ = GracefulStopResult{};
    result_->requested_ns = now;
    launch_.shared->end_requested.store(true);
    result_->by_command = start_command();
    if (!result_->by_command) signal_all(SIGTERM);
    return now + from_seconds(launch_.plan.grace_s);
}

bool GracefulStop::start_command() {
    if (launch_.plan.stop.empty()) return false;
    const Plan plan = plan_of_command(launch_.plan, program_pids());
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
    // Start it in a copy of the address space: a program that has not reached exec runs on memory that a
    // child with shared memory would overwrite.
    Progress progress;
    const long pid = fork_program(steps, program, progress, nullptr);
    if (pid <= 0) return false;
    command_ = static_cast<pid_t>(pid);
    return true;
}

/// Return living processes of the tree, except the program and the stop command. With several instances the
/// leader takes the place of the program and ends after them.
std::vector<pid_t> GracefulStop::other_processes() {
    auto pids = living_processes(*launch_.containment);
    std::erase_if(pids, [&](pid_t pid) { return pid == program_ || pid == command_; });
    return pids;
}

/// Return the process id of the program, or those of all instances.
std::string GracefulStop::program_pids() {
    if (launch_.plan.instances.empty()) return std::to_string(program_);
    std::string found;
    for (const pid_t pid : other_processes()) {
        const auto stat = proc_stat(pid);
        if (stat && stat->parent == program_) found += (found.empty() ? "" : " ") + std::to_string(pid);
    }
    return found;
}

/// Signal each process once. Processes that start later may be part of an orderly shutdown.
void GracefulStop::signal_all(int signal) {
    auto pids = other_processes();
    if (launch_.plan.instances.empty()) pids.push_back(program_);
    for (const pid_t pid : pids) {
        const auto seen = proc_stat(pid);
        if (!seen) continue;
        signal_seen(*seen, signal);
        if (seen->state == 'T') signal_seen(*seen, SIGCONT); // a stopped process does not handle the signal
    }
}

void GracefulStop::reap() {
    check_command();
    reap_children(program_, command_);
    check_command(); // it may have ended meanwhile, without another SIGCHLD
}

void GracefulStop::check_command() {
    if (command_ == 0) return;
    int status = 0;
    if (::waitpid(command_, &status, WNOHANG) != command_) return;
    command_ = 0;
    result_->status = status;
    if (status != 0) signal_all(SIGTERM);
}

bool GracefulStop::only_program_left() {
    return other_processes().empty();
}

void GracefulStop::finish(Nanos now, bool killed) {
    if (!result_ || result_->ended_ns != never) return;
    result_->ended_ns = now;
    result_->killed = killed;
    if (command_ == 0) return;
    ::kill(-command_, SIGKILL);
    ::kill(command_, SIGKILL); // it may not have its own process group yet
    command_ = 0;              // `end_tree` reaps it
}

} // namespace assay
