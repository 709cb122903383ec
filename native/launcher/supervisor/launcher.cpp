#include "launcher/supervisor/launcher.hpp"

#include "common/raw.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/process/signals.hpp"
#include "launcher/process/spawn.hpp"
#include "launcher/supervisor/recovery.hpp"
#include "launcher/supervisor/supervisor.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace assay {

namespace {

constexpr std::uint32_t signal_received = 1;
constexpr std::uint32_t parent_ended = 2;

/// A signal and the caller's request for the same signal are one event if they arrive within this time.
constexpr Nanos same_signal_window = nanos_per_second / 5;

constexpr std::size_t supervisor_stack_bytes = 512 * 1024; // untouched pages cost nothing
constexpr std::size_t guard_bytes = 4096 * 16;             // at least one page, for each page size of arm64

void run_supervisor(void* argument) {
    Launch& launch = *static_cast<Launch*>(argument);
    const int status = supervise(launch);
    launch.shared->exit_status.store(status);
    launch.shared->supervisor_done.store(true);
    // The program may have stopped the launcher, which could then not report to the caller.
    if (raw::call(SYS_getppid) == launch.launcher_pid) raw::call(SYS_kill, launch.launcher_pid, SIGCONT);
    raw::exit(0);
}

void* map(std::size_t size, int protection, int flags) {
    void* memory = ::mmap(nullptr, size, protection, flags | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

/// Create the supervisor, which shares memory and open files with the launcher. Return its process id, or
/// -errno.
long clone_supervisor(Launch& launch) {
    long top = 0;
    unsigned long flags = CLONE_FILES | SIGCHLD;
    if (share_memory) {
        void* stack = map(guard_bytes + supervisor_stack_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_NORESERVE | MAP_STACK);
        if (stack == nullptr || ::mprotect(stack, guard_bytes, PROT_NONE) != 0) return -ENOMEM;
        top = raw::as_long(stack) + static_cast<long>(guard_bytes + supervisor_stack_bytes);
        flags |= CLONE_VM;
    }
    return raw::clone_call(SYS_clone, static_cast<long>(flags), top, 0, 0, 0, run_supervisor, &launch);
}

/// Loop of the launcher process. While the supervisor lives, the launcher makes system calls only, because
/// the supervisor uses their common memory.
class LauncherProcess {
  public:
    LauncherProcess(Launch& launch, int signals, int parent, pid_t caller)
        : launch_(launch), signals_(signals), parent_(parent), caller_(caller) {}

    void run(pid_t supervisor) {
        supervisor_ = supervisor;
        while (!ended_) {
            epoll_event event{};
            const long n = raw::call(SYS_epoll_pwait, launch_.events.get(), raw::as_long(&event), 1, -1, 0);
            if (n != 1) continue;
            switch (event.data.u32) {
            case signal_received:
                read_signals();
                break;
            case parent_ended:
                raw::call(SYS_epoll_ctl, launch_.events.get(), EPOLL_CTL_DEL, parent_, 0);
                raw::call(SYS_kill, supervisor_, end_request);
                break;
            case program_ended:
                launch_.shared->exit_seen_ns.store(raw::now_ns());
                break;
            default:
                break;
            }
        }
    }

  private:
    void read_signals() {
        signalfd_siginfo info{};
        while (raw::call(SYS_read, signals_, raw::as_long(&info), sizeof info) ==
               static_cast<long>(sizeof info)) {
            if (info.ssi_signo == SIGCHLD)
                check_supervisor();
            else if (launch_.plan.leave_signals && info.ssi_signo != end_request)
                handle_left_signal(info);
            else
                raw::call(SYS_kill, supervisor_, static_cast<long>(info.ssi_signo));
        }
    }

    /// Handle a signal that the plan leaves to the program. A signal without a request was sent to our
    /// process group or to all processes of a job, so the program has received it too.
    void handle_left_signal(const signalfd_siginfo& info) {
        const int signal = static_cast<int>(info.ssi_signo);
        const auto sender = static_cast<pid_t>(info.ssi_pid);
        if (const int forwarded = requested(info, caller_); forwarded != 0) {
            forward_signal(forwarded);
            return;
        }
        if (signal == SIGCONT && sender == caller_) return; // sent so that we can read its requests
        ReceivedSignal& received = received_[static_cast<std::size_t>(signal)];
        received.count += 1;
        received.at = raw::now_ns();
        // The program continues, and its caller was stopped with it.
        if (signal == SIGCONT && sender == supervisor_ && caller_ > 0) raw::call(SYS_kill, caller_, SIGCONT);
    }

    /// Continue a stopped supervisor. The program may stop it and would then escape every limit.
    void check_supervisor() {
        int status = 0;
        while (!ended_ && raw::call(SYS_wait4, supervisor_, raw::as_long(&status), WNOHANG | WUNTRACED, 0) ==
                              supervisor_) {
            if (WIFSTOPPED(status))
                raw::call(SYS_kill, supervisor_, SIGCONT);
            else
                ended_ = true;
        }
    }

    /// Pending signals of one number merge, except real-time signals, which can be counted.
    void forward_signal(int signal) {
        ReceivedSignal& received = received_[static_cast<std::size_t>(signal)];
        const bool recent = received.at != 0 && raw::now_ns() - received.at < same_signal_window;
        if (!recent) received.count = 0;
        if (received.count == 0)
            request(supervisor_, launch_.launcher_pid, signal);
        else if (signal >= first_real_time)
            received.count -= 1;
    }

    struct ReceivedSignal {
        Nanos at = 0; // 0: never received
        int count = 0;
    };

    Launch& launch_;
    int signals_;
    int parent_;
    pid_t caller_;
    pid_t supervisor_ = 0;
    std::array<ReceivedSignal, last_signal + 1> received_{}; // by signal
    bool ended_ = false;
};

int cannot_start(Launch& launch, const char* stage, int error) {
    Result result;
    result.failure = Failure{stage, error, std::strerror(error)};
    return deliver_unstarted(result, launch);
}

void add_to_epoll(int epoll, int fd, std::uint32_t name) {
    epoll_event event{.events = EPOLLIN, .data = {.u32 = name}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

Fd block_signals(Launch& launch) {
    const bool leave = launch.plan.leave_signals;
    const SignalMask ours = mask_of({SIGCHLD, end_request}) | (leave ? left_signals : tree_ending_signals());
    Fd signals{static_cast<int>(signal_file(ours))};
    SignalMask callers = 0;
    std::memcpy(&callers, &launch.caller_signals, sizeof callers);
    // Writing a record after the reader has closed it must return an error, not end us. A preforked launcher
    // has blocked all signals already.
    block_only(ours | mask_of({SIGPIPE}) | callers);
    struct sigaction child{};
    ::sigaction(SIGCHLD, nullptr, &child);
    if (child.sa_handler == SIG_IGN) {
        // Inherited over exec. If SIGCHLD is ignored, the kernel discards exit statuses.
        launch.caller_ignores_children = true;
        child.sa_handler = SIG_DFL;
        ::sigaction(SIGCHLD, &child, nullptr);
    }
    return signals;
}

} // namespace

int deliver_unstarted(const Result& result, Launch& launch) {
    if (launch.containment) launch.containment->remove();
    return deliver(result, launch.record);
}

int run_launch(Launch& launch) {
    launch.launcher_pid = ::getpid();
    launch.caller_group = ::getpgrp();
    const pid_t parent = ::getppid();
    const Fd signals = block_signals(launch);
    launch.events = Fd{::epoll_create1(EPOLL_CLOEXEC)};
    if (!signals || !launch.events) return cannot_start(launch, "launcher", errno);
    add_to_epoll(launch.events.get(), signals.get(), signal_received);

    // Use a pidfd: PR_SET_PDEATHSIG would signal the end of the parent *thread*. Process id 0 is a parent
    // outside our PID namespace, which cannot be observed.
    Fd parent_fd;
    if (parent > 0) {
        parent_fd = Fd{static_cast<int>(::syscall(SYS_pidfd_open, parent, 0))};
        if (parent_fd)
            add_to_epoll(launch.events.get(), parent_fd.get(), parent_ended);
        else
            ::prctl(PR_SET_PDEATHSIG, end_request); // Linux before 5.3
    }
    launch.caller_pidfd = parent_fd.get();
    launch.caller_pid = parent;
    if (::getppid() != parent || (launch.plan.parent_pid && parent != *launch.plan.parent_pid)) {
        Result result;
        result.outcome = Outcome::interrupted;
        result.failure = Failure{"parent_pid", 0, "the process that started assay-exec has ended"};
        return deliver_unstarted(result, launch);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // if the supervisor is killed, the launcher adopts its tree

    void* page = map(sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED);
    if (page == nullptr) return cannot_start(launch, "launcher", ENOMEM);
    launch.shared = new (page) SharedState;
    SupervisorRecovery recovery(launch.plan, launch.record, launch.environment);
    const long supervisor = clone_supervisor(launch);
    if (raw::failed(supervisor)) return cannot_start(launch, "supervisor", static_cast<int>(-supervisor));
    LauncherProcess(launch, signals.get(), parent_fd.get(), parent).run(static_cast<pid_t>(supervisor));
    if (!launch.shared->supervisor_done.load()) {
        recovery.exec(*launch.shared);
        return cannot_start(launch, "supervisor", ENOEXEC);
    }
    return launch.shared->exit_status.load();
}

} // namespace assay
