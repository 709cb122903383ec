#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/meters/huge_pages.hpp"
#include "launcher/process/process_tree.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct CpuTime {
    Nanos user = 0;
    Nanos system = 0;
};

/// Kernel accounting of the tree at its end. `absent` gives the reason for each missing quantity.
struct TreeUsage {
    std::optional<CpuTime> cpu;
    std::optional<std::int64_t> peak_bytes;
    std::optional<double> throttled_s;
    std::optional<std::int64_t> oom_kills;
    std::vector<std::pair<std::string, double>> pressure;
    std::vector<std::pair<std::string, std::string>> absent;
};

/// Enforcement of a limit: by the kernel, or by polling.
enum class LimitEnforcement { kernel, polled, refused };

/// Memory of a tree at one moment.
struct TreeMemory {
    std::int64_t anonymous = 0; // anonymous and shared memory, outside huge page pools
    std::int64_t huge = 0;      // memory from huge page pools
    bool huge_charged = false;  // the memory controller includes huge page pools
    std::int64_t shared = 0;    // part of `anonymous`; writes to a tmpfs can add to it without page faults
    std::optional<std::int64_t> cache; // file pages charged to the control group
    std::optional<std::int64_t> files; // maximum over the processes of mapped file pages
    /// Upper bound of the memory that page faults have added so far, at one page each. Absent if some may
    /// have added more.
    std::optional<std::int64_t> faulted;

    [[nodiscard]] std::int64_t all() const { return anonymous + huge; }
};

/// Containment of the process tree. The supervisor is a child subreaper, and so the parent or adopter of
/// every process of the tree. A walk over its descendants finds processes that no control group contains.
class Containment {
  public:
    virtual ~Containment() = default;

    [[nodiscard]] virtual const char* mode() const = 0;
    /// Return true if no process of the tree can escape.
    [[nodiscard]] virtual bool complete() const = 0;
    [[nodiscard]] const std::string& why() const { return why_; }
    /// Return the name of the control group; empty without one.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Return the v2 folder for CLONE_INTO_CGROUP, or -1.
    [[nodiscard]] virtual int clone_into_fd() const { return -1; }
    /// Return open files into which the child writes "0" to join. `in_cgroup` states that clone has put it
    /// into the v2 folder.
    virtual std::vector<int> join_files(bool in_cgroup) = 0;

    virtual LimitEnforcement limit_memory(std::int64_t bytes, int& error) = 0;
    virtual LimitEnforcement limit_processes(std::int64_t max_processes, int& error) = 0;

    /// Return the living processes of the tree.
    virtual std::vector<pid_t> processes() = 0;
    virtual bool empty() = 0;
    /// Send SIGKILL to all processes. May have to be repeated.
    virtual void kill() = 0;
    /// Thaw a process that is frozen in a group of its own, so that it can end.
    virtual void thaw(pid_t) {}

    virtual std::optional<TreeMemory> memory() = 0;
    /// Return whether any process of this machine uses huge page pools.
    [[nodiscard]] bool huge_pages_in_use() { return huge_pages_.in_use() > 0; }
    virtual std::optional<Nanos> cpu_used() = 0;
    /// Return whether the kernel's own limit was reached.
    virtual bool hit_memory_limit() { return false; }
    /// Return the number of processes of the tree that the kernel has killed for memory, because of the
    /// tree's own limit or one above. Absent if no group counts them for this tree alone.
    virtual std::optional<std::int64_t> memory_kills() { return std::nullopt; }
    virtual bool hit_process_limit() { return false; }

    virtual TreeUsage usage() = 0;
    /// Remove the control groups. Return true if nothing is left.
    virtual bool remove() = 0;

  protected:
    /// Read the memory of these processes from /proc.
    std::optional<TreeMemory> memory_of(const std::vector<pid_t>& pids);
    /// Add the memory that the processes use of huge page pools, unless it is included already.
    void add_huge_pages(std::optional<TreeMemory>& memory);

    std::string why_;
    std::string name_;
    HugePages huge_pages_;
};

/// Containment without control groups: all processes that the supervisor has started or adopted.
class UngroupedTree final : public Containment {
  public:
    explicit UngroupedTree(std::string why) { why_ = std::move(why); }

    [[nodiscard]] const char* mode() const override { return "none"; }
    [[nodiscard]] bool complete() const override { return false; }
    std::vector<int> join_files(bool) override { return {}; }
    LimitEnforcement limit_memory(std::int64_t, int&) override { return LimitEnforcement::polled; }
    LimitEnforcement limit_processes(std::int64_t, int&) override { return LimitEnforcement::polled; }
    std::vector<pid_t> processes() override;
    bool empty() override;
    void kill() override;
    std::optional<TreeMemory> memory() override;
    std::optional<Nanos> cpu_used() override;
    TreeUsage usage() override;
    bool remove() override { return true; }
};

struct ContainmentChoice {
    std::unique_ptr<Containment>
        containment; // null: the plan requires a control group and none can be created
    std::string error;
};

/// Choose the containment. `launcher` is the process id in the default name of the control group.
ContainmentChoice choose_containment(const Plan& plan, pid_t launcher);

/// Number of living processes of the tree, and of those outside the control group.
struct TreeCount {
    std::size_t all = 0;
    std::size_t outside = 0;
};
TreeCount count_tree(Containment& containment);

/// Return the living processes of the tree in ascending order, including those outside the control group.
std::vector<pid_t> living_processes(Containment& containment);

/// Return the names of at most 16 processes of the tree that are not ending (proc_pid_comm(5)).
std::vector<std::string> remaining_names(Containment& containment);

/// Send SIGKILL to all processes, including those outside the control group, which are still below the
/// supervisor. Return the number of those outside.
std::size_t kill_tree(Containment& containment);

/// Kill and reap all processes of the tree, for at most `timeout`. Return the number of survivors.
std::size_t end_tree(Containment& containment, Nanos timeout = 10 * nanos_per_second);

/// Signal a process unless its number was reused: `still_ours` checks the number while a pidfd holds the
/// process.
template <typename StillOurs>
void signal_checked(pid_t pid, int signal, StillOurs still_ours) {
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd) {
        if (errno == ENOSYS && still_ours(pid)) ::kill(pid, signal); // Linux before 5.3
        return;
    }
    if (still_ours(pid)) ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

/// Signal a process that was observed before, unless its number was reused.
void signal_seen(const ProcStat& seen, int signal);

/// Send SIGKILL to a process; see `signal_checked`.
template <typename StillOurs>
void kill_checked(pid_t pid, StillOurs still_ours) {
    signal_checked(pid, SIGKILL, still_ours);
}

/// Reap every child that has ended, except `spared` and `other`. Return true while there are other children.
bool reap_children(pid_t spared, pid_t other = 0);

} // namespace assay
