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

struct Task {
    const Step* steps;
    std::size_t count;
    const Program* program; // or none, and a team to be led
    Team* team;
    Progress* progress;
    long maker;
    const Gate* gate; // or none
};

// From here to the end of `be_child` only system calls without libc: this runs beside the keeper, in its
// memory.

[[noreturn]] void give_up(Progress& progress, std::size_t step, long error) {
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

long carry_out(const Step& step) {
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
    // A script without "#!": POSIX wants a shell for it (execvp).
    const char** shell = program.shell_argv();
    shell[1] = path;
    return raw::call(SYS_execve, raw::as_long("/bin/sh"), raw::as_long(shell), raw::as_long(environment));
}

/// True where execvp would look into the next folder of PATH.
bool look_further(long error) {
    return error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -ESTALE ||
           error == -ENODEV || error == -ETIMEDOUT;
}

/// Says that this instance is in place, and waits for the others. The end of the leader opens the gate too,
/// and is noticed by what follows.
void pass(const Gate& gate) {
    raw::call(SYS_close, gate.go_write);
    char byte = 0;
    raw::call(SYS_write, gate.ready, raw::as_long(&byte), 1);
    while (raw::call(SYS_read, gate.go, raw::as_long(&byte), 1) == -EINTR) {
    }
}

[[noreturn]] void be_child(void* argument) {
    const Task& task = *static_cast<const Task*>(argument);
    for (std::size_t i = 0; i < task.count; ++i) {
        const long result = carry_out(task.steps[i]);
        if (raw::failed(result)) give_up(*task.progress, i, result);
    }
    if (task.gate != nullptr) pass(*task.gate);
    // Its maker may have died before the parent-death signal was asked for.
    if (raw::call(SYS_getppid) != task.maker) raw::exit(127);
    if (task.team != nullptr) task.team->lead(*task.progress); // in memory of its own
    task.program->take_over(raw::call(SYS_getpid));
    long worst = -ENOENT;
    for (const char* const* path = task.program->candidates(); *path != nullptr; ++path) {
        const long error = execute(*task.program, *path, *task.progress);
        if (error == -EACCES || worst != -EACCES) worst = error;
        if (!look_further(error)) break;
    }
    task.progress->started_ns.store(0, std::memory_order_relaxed);
    give_up(*task.progress, task.count, worst);
}

// End of what runs in the child.

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

void Program::take_over(long pid) const {
    for (char* digits : process_ids_) {
        std::size_t length = 1;
        for (long rest = pid; rest >= 10; rest /= 10) ++length;
        digits[length] = '\0';
        for (long rest = pid; length > 0; rest /= 10) digits[--length] = static_cast<char>('0' + rest % 10);
    }
}

void Program::build_environment(const Plan& plan, char** environment, pid_t caller) {
    // What it is compared with, and the room for any process id.
    const std::string callers = std::to_string(caller), room(20, '0');
    const auto is_callers = [&](std::string_view entry) {
        const auto equals = entry.find('=');
        const auto name = entry.substr(0, equals);
        return caller > 0 && (name == "LISTEN_PID" || name == "WATCHDOG_PID") &&
               entry.substr(equals + 1) == callers;
    };
    const auto replaced = [&](std::string_view entry) {
        const auto name = entry.substr(0, entry.find('='));
        const auto is_name = [&](const auto& other) { return other == name; };
        return std::any_of(plan.env_unset.begin(), plan.env_unset.end(), is_name) ||
               std::any_of(plan.env_set.begin(), plan.env_set.end(),
                           [&](const auto& pair) { return is_name(pair.first); });
    };
    const bool changes = !plan.env_unset.empty() || !plan.env_set.empty();
    std::size_t taken_over = 0;
    for (char** entry = environment; *entry != nullptr; ++entry) taken_over += is_callers(*entry);
    set_.reserve(plan.env_set.size() + taken_over); // the pointers below must stay true
    for (char** entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (changes && replaced(text)) continue;
        // The same process by another name, which is the caller's.
        if (taken_over > 0 && text.starts_with("LISTEN_PIDFDID=")) continue;
        if (!is_callers(text)) {
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
    if (path.empty()) path = "/bin:/usr/bin"; // what confstr(_CS_PATH) gives
    for (;;) {
        const auto colon = path.find(':');
        const auto folder = path.substr(0, colon);
        candidates_.push_back(folder.empty() ? "./" + name : std::string(folder) + '/' + name);
        if (colon == std::string_view::npos) break;
        path.remove_prefix(colon + 1);
    }
}

namespace {

Spawned spawn_task(const Task& given, int cgroup, bool legacy_clone, bool share) {
    // Static: it must outlive this call, for the child runs on it until it executes the program.
    alignas(64) static unsigned char stack[32 * 1024];
    static Task task;
    task = given;

    Spawned spawned;
    int pidfd = -1;
    long result = 0;
    unsigned long long flags = CLONE_PIDFD;
    if (share) flags |= CLONE_VM;
    if (legacy_clone) {
        const long top = share ? raw::as_long(stack) + static_cast<long>(sizeof stack) : 0;
        result = raw::clone_call(SYS_clone, static_cast<long>(flags | SIGCHLD), top, raw::as_long(&pidfd), 0,
                                 0, be_child, &task);
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
            spawned.born = true;
        }
        result = raw::clone_call(SYS_clone3, raw::as_long(&args), sizeof args, 0, 0, 0, be_child, &task);
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
    const Task task{all.data(), all.size(), &program, nullptr, &progress, raw::call(SYS_getpid), nullptr};
    // What has become another user must not run in memory of root's.
    const bool share = share_memory && !works_for_another() && steps.shareable();
    return spawn_task(task, cgroup, legacy_clone, share);
}

Spawned spawn_leader(const Steps& steps, Team& team, Progress& progress, int cgroup, bool legacy_clone) {
    const auto& all = steps.all();
    const Task task{all.data(), all.size(), nullptr, &team, &progress, raw::call(SYS_getpid), nullptr};
    return spawn_task(task, cgroup, legacy_clone, false);
}

long fork_into(const Steps& steps, const Program& program, Progress& progress, const Gate* gate) {
    const auto& all = steps.all();
    // Static: below the stack pointer, where locals of a leaf may lie, the child's calls write.
    static Task task;
    task = {all.data(), all.size(), &program, nullptr, &progress, raw::call(SYS_getpid), gate};
    return raw::clone_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, be_child, &task);
}

} // namespace assay
