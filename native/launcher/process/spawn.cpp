#include "launcher/process/spawn.hpp"

#include "common/raw.hpp"
#include "launcher/process/caller.hpp"
#include "launcher/process/instance_group.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace assay {

namespace {

struct ChildTask {
    const Step* steps;
    std::size_t count;
    const Program* program; // or null: then `instances` is set
    InstanceGroup* instances;
    Progress* progress;
    long parent;
    const StartBarrier* barrier; // or null
};

// Up to the end of `run_child`, use system calls only and no libc: this code runs in the supervisor's memory
// at the same time.

[[noreturn]] void report_failure(Progress& progress, std::size_t step, long error) {
    progress.failed_errno.store(static_cast<int>(-error));
    progress.failed_step.store(static_cast<int>(step));
    raw::exit(127);
}

bool same_bytes(const unsigned char* a, const unsigned char* b, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

long run_step(const Step& step) {
    if (step.view != nullptr) return enter_view(*step.view);
    const auto& a = step.args;
    const long result = raw::call(step.number, a[0], a[1], a[2], a[3], a[4]);
    if (raw::failed(result) || step.check_number == 0) return result;
    const auto& c = step.check_args;
    const long checked = raw::call(step.check_number, c[0], c[1], c[2], c[3], c[4]);
    if (raw::failed(checked)) return checked;
    return same_bytes(step.expected, step.actual, step.check_length) ? 0 : -EINVAL;
}

long execute(const Program& program, const char* path, Progress& progress) {
    const char* const* environment = program.envp();
    progress.started_ns.store(raw::now_ns(), std::memory_order_relaxed);
    const long error =
        raw::call(SYS_execve, raw::as_long(path), raw::as_long(program.argv()), raw::as_long(environment));
    if (error != -ENOEXEC) return error;
    // A script without "#!": POSIX requires a shell for it (execvp).
    const char** shell = program.shell_argv();
    shell[1] = path;
    return raw::call(SYS_execve, raw::as_long("/bin/sh"), raw::as_long(shell), raw::as_long(environment));
}

/// Return whether execvp would try the next folder of PATH.
bool should_try_next(long error) {
    return error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -ESTALE ||
           error == -ENODEV || error == -ETIMEDOUT;
}

/// Report that this instance is ready, and wait for the others. The end of the leader releases the barrier
/// too; the next check detects it.
void wait_at_barrier(const StartBarrier& barrier) {
    raw::call(SYS_close, barrier.release_write);
    char byte = 0;
    raw::call(SYS_write, barrier.ready, raw::as_long(&byte), 1);
    while (raw::call(SYS_read, barrier.release, raw::as_long(&byte), 1) == -EINTR) {
    }
}

[[noreturn]] void run_child(void* argument) {
    const ChildTask& task = *static_cast<const ChildTask*>(argument);
    for (std::size_t i = 0; i < task.count; ++i) {
        const long result = run_step(task.steps[i]);
        if (raw::failed(result)) report_failure(*task.progress, i, result);
    }
    if (task.barrier != nullptr) wait_at_barrier(*task.barrier);
    // The parent may have ended before the parent-death signal was set.
    if (raw::call(SYS_getppid) != task.parent) raw::exit(127);
    if (task.instances != nullptr)
        task.instances->run_leader(*task.progress); // in a separate copy of the memory
    task.program->write_process_ids(raw::call(SYS_getpid));
    long worst = -ENOENT;
    for (const char* const* path = task.program->candidates(); *path != nullptr; ++path) {
        const long error = execute(*task.program, *path, *task.progress);
        if (error == -EACCES || worst != -EACCES) worst = error;
        if (!should_try_next(error)) break;
    }
    task.progress->started_ns.store(0, std::memory_order_relaxed);
    report_failure(*task.progress, task.count, worst);
}

// End of the code that runs in the child.

std::string_view value_of(std::string_view name, const std::vector<const char*>& environment) {
    for (const char* entry : environment) {
        if (entry == nullptr) break;
        const std::string_view text = entry;
        if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == '=') {
            return text.substr(name.size() + 1);
        }
    }
    return {};
}

} // namespace

Program::Program(const Plan& plan, char** environment, pid_t caller) {
    build_environment(plan, environment, caller);
    find_candidates(plan.argv.front());
    for (const auto& path : candidates_) candidate_pointers_.push_back(path.c_str());
    candidate_pointers_.push_back(nullptr);
    for (const auto& word : plan.argv) argv_.push_back(word.c_str());
    argv_.push_back(nullptr);
    shell_argv_ = {"/bin/sh", ""};
    shell_argv_.insert(shell_argv_.end(), argv_.begin() + 1, argv_.end());
}

void Program::write_process_ids(long pid) const {
    for (char* digits : process_ids_) {
        std::size_t length = 1;
        for (long rest = pid; rest >= 10; rest /= 10) ++length;
        digits[length] = '\0';
        for (long rest = pid; length > 0; rest /= 10) digits[--length] = static_cast<char>('0' + rest % 10);
    }
}

void Program::build_environment(const Plan& plan, char** environment, pid_t caller) {
    // `room` reserves space for any process id.
    const std::string caller_text = std::to_string(caller), room(20, '0');
    const auto names_caller = [&](std::string_view entry) {
        const auto equals = entry.find('=');
        const auto name = entry.substr(0, equals);
        return caller > 0 && (name == "LISTEN_PID" || name == "WATCHDOG_PID") &&
               entry.substr(equals + 1) == caller_text;
    };
    const auto replaced = [&](std::string_view entry) {
        const auto name = entry.substr(0, entry.find('='));
        const auto is_name = [&](const auto& other) { return other == name; };
        return std::any_of(plan.env_unset.begin(), plan.env_unset.end(), is_name) ||
               std::any_of(plan.env_set.begin(), plan.env_set.end(),
                           [&](const auto& pair) { return is_name(pair.first); });
    };
    const bool changes = !plan.env_unset.empty() || !plan.env_set.empty();
    std::size_t replaced_ids = 0;
    for (char** entry = environment; *entry != nullptr; ++entry) replaced_ids += names_caller(*entry);
    set_.reserve(plan.env_set.size() + replaced_ids); // keeps the pointers below valid
    for (char** entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (changes && replaced(text)) continue;
        // A second name of the same process, which is the caller's.
        if (replaced_ids > 0 && text.starts_with("LISTEN_PIDFDID=")) continue;
        if (!names_caller(text)) {
            envp_.push_back(*entry);
            continue;
        }
        const auto name = text.substr(0, text.find('=') + 1);
        std::string& own = set_.emplace_back(std::string(name) + room);
        process_ids_.push_back(own.data() + name.size());
        envp_.push_back(own.c_str());
    }
    for (const auto& [name, value] : plan.env_set)
        envp_.push_back(set_.emplace_back(name + '=' + value).c_str());
    envp_.push_back(nullptr);
}

void Program::find_candidates(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        candidates_.push_back(name);
        return;
    }
    std::string_view path = value_of("PATH", envp_);
    if (path.empty()) path = "/bin:/usr/bin"; // the value of confstr(_CS_PATH)
    for (;;) {
        const auto colon = path.find(':');
        const auto folder = path.substr(0, colon);
        candidates_.push_back(folder.empty() ? "./" + name : std::string(folder) + '/' + name);
        if (colon == std::string_view::npos) break;
        path.remove_prefix(colon + 1);
    }
}

namespace {

Spawned spawn_task(const ChildTask& given, int cgroup, bool legacy_clone, bool share) {
    // Static, so that it outlives this call: the child runs on this stack until exec.
    alignas(64) static unsigned char stack[32 * 1024];
    static ChildTask task;
    task = given;

    Spawned spawned;
    int pidfd = -1;
    long result = 0;
    unsigned long long flags = CLONE_PIDFD;
    if (share) flags |= CLONE_VM;
    if (legacy_clone) {
        const long top = share ? raw::as_long(stack) + static_cast<long>(sizeof stack) : 0;
        result = raw::clone_call(SYS_clone, static_cast<long>(flags | SIGCHLD), top, raw::as_long(&pidfd), 0,
                                 0, run_child, &task);
    } else {
        clone_args args{};
        args.flags = flags;
        args.pidfd = static_cast<unsigned long long>(raw::as_long(&pidfd));
        args.exit_signal = SIGCHLD;
        if (share) {
            args.stack = static_cast<unsigned long long>(raw::as_long(stack));
            args.stack_size = sizeof stack;
        }
        if (cgroup >= 0) {
            args.flags |= CLONE_INTO_CGROUP;
            args.cgroup = static_cast<unsigned long long>(cgroup);
            spawned.in_cgroup = true;
        }
        result = raw::clone_call(SYS_clone3, raw::as_long(&args), sizeof args, 0, 0, 0, run_child, &task);
    }
    if (raw::failed(result)) {
        spawned.error = static_cast<int>(-result);
        return spawned;
    }
    spawned.pid = static_cast<pid_t>(result);
    spawned.pidfd = Fd{pidfd};
    return spawned;
}

} // namespace

Spawned spawn(const Steps& steps, const Program& program, Progress& progress, int cgroup, bool legacy_clone) {
    const auto& all = steps.all();
    const ChildTask task{all.data(), all.size(), &program, nullptr, &progress, raw::call(SYS_getpid),
                         nullptr};
    // A process of another user must not run in memory of root.
    const bool share = share_memory && !acts_for_another_user() && steps.shareable();
    return spawn_task(task, cgroup, legacy_clone, share);
}

Spawned spawn_leader(const Steps& steps, InstanceGroup& instances, Progress& progress, int cgroup,
                     bool legacy_clone) {
    const auto& all = steps.all();
    const ChildTask task{all.data(), all.size(), nullptr, &instances, &progress, raw::call(SYS_getpid),
                         nullptr};
    return spawn_task(task, cgroup, legacy_clone, false);
}

long fork_program(const Steps& steps, const Program& program, Progress& progress,
                  const StartBarrier* barrier) {
    const auto& all = steps.all();
    // Static: calls of the child write below the stack pointer, where locals of a leaf function may lie.
    static ChildTask task;
    task = {all.data(), all.size(), &program, nullptr, &progress, raw::call(SYS_getpid), barrier};
    return raw::clone_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, run_child, &task);
}

} // namespace assay
