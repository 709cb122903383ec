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

/// What the kernel counted for the tree by its end. Absent quantities say why in `absent`.
struct TreeUsage {
    std::optional<CpuTime> cpu;
    std::optional<std::int64_t> peak_bytes;
    std::optional<double> throttled_s;
    std::optional<std::int64_t> oom_kills;
    std::vector<std::pair<std::string, double>> pressure;
    std::vector<std::pair<std::string, std::string>> absent;
};

/// How a limit is held: by the kernel, or by looking now and then.
enum class LimitEnforcement { kernel, polled, refused };

/// Memory of a tree at one moment.
struct TreeMemory {
    std::int64_t anonymous = 0; // and shared, of pages that are in no pool
    std::int64_t huge = 0;      // of pools of huge pages
    bool huge_charged = false;  // the memory controller counts those as well
    std::int64_t shared = 0;    // of the anonymous and shared: what a write to a tmpfs adds without a fault
    std::optional<std::int64_t> cache; // file pages that are charged to the control group
    std::optional<std::int64_t> files; // most file pages that one of the processes has mapped
    /// Most bytes that page faults so far can have added; each adds a page at most. Nothing where some may
    /// have added more.
    std::optional<std::int64_t> faulted;

    [[nodiscard]] std::int64_t all() const { return anonymous + huge; }
};

/// What holds the process tree together. The keeper, a child subreaper, is the parent or adopter of every
/// process of the tree, so a walk over its descendants finds what no control group holds.
class Containment {
  public:
    virtual ~Containment() = default;

    [[nodiscard]] virtual const char* mode() const = 0;
    /// True where no process of the tree can get away.
    [[nodiscard]] virtual bool complete() const = 0;
    [[nodiscard]] const std::string& why() const { return why_; }
    /// Of the control group; empty where there is none.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// The v2 folder to be born into, or -1.
    [[nodiscard]] virtual int clone_into_fd() const { return -1; }
    /// Open files into which the child writes "0" to join; `born` says whether it is in the birth folder
    /// already.
    virtual std::vector<int> join_files(bool born) = 0;

    virtual LimitEnforcement limit_memory(std::int64_t bytes, int& error) = 0;
    virtual LimitEnforcement limit_processes(std::int64_t most, int& error) = 0;

    /// Living processes of the tree.
    virtual std::vector<pid_t> processes() = 0;
    virtual bool empty() = 0;
    /// Sends SIGKILL to everything; may have to be called again.
    virtual void kill() = 0;
    /// Lets a process end that is frozen in a group of its own making.
    virtual void thaw(pid_t) {}

    virtual std::optional<TreeMemory> memory() = 0;
    /// Tell whether any process of this machine holds pages of the pools of huge pages.
    [[nodiscard]] bool huge_pages_in_use() { return huge_pages_.in_use() > 0; }
    virtual std::optional<Nanos> cpu_used() = 0;
    /// The kernel's own limit was hit.
    virtual bool hit_memory_limit() { return false; }
    /// Count the processes of the tree that the kernel has killed for memory, for its own limit or one above;
    /// nothing where no group counts them for this tree alone.
    virtual std::optional<std::int64_t> memory_kills() { return std::nullopt; }
    virtual bool hit_process_limit() { return false; }

    virtual TreeUsage usage() = 0;
    /// Removes what was made; true when nothing is left.
    virtual bool remove() = 0;

  protected:
    /// Read the memory of these processes from /proc.
    std::optional<TreeMemory> memory_of(const std::vector<pid_t>& pids);
    /// Add the pages that the processes hold of the pools of huge pages, unless they are counted already.
    void add_huge_pages(std::optional<TreeMemory>& memory);

    std::string why_;
    std::string name_;
    HugePages huge_pages_;
};

/// Without control groups: what the keeper has started or adopted.
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
    std::unique_ptr<Containment> containment; // null: none could be had although the plan insists
    std::string error;
};

/// `launcher` is the process id that names the control group where the plan does not.
ContainmentChoice choose_containment(const Plan& plan, pid_t launcher);

/// Living processes of the tree, and how many of them have left the control group.
struct TreeCount {
    std::size_t all = 0;
    std::size_t outside = 0;
};
TreeCount count_tree(Containment& containment);

/// Processes of the tree that have not ended, also those that have left the control group; in order.
std::vector<pid_t> living_processes(Containment& containment);

/// Names of processes of the tree, at most 16, without those that are ending (proc_pid_comm(5)).
std::vector<std::string> names_left(Containment& containment);

/// Sends SIGKILL to everything, also to what has left the control group: it is still below the keeper.
/// Returns how many processes had.
std::size_t kill_tree(Containment& containment);

/// Kills and reaps until nothing is left of the tree, for at most `patience`. Returns how many processes
/// survived.
std::size_t end_tree(Containment& containment, Nanos timeout = 10 * nanos_per_second);

/// A signal for a process; it does not reach a stranger that got the number meanwhile, if `still_ours` says
/// so of what has the number once it is held by a pidfd.
template <typename StillOurs>
void signal_checked(pid_t pid, int signal, StillOurs still_ours) {
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd) {
        if (errno == ENOSYS && still_ours(pid)) ::kill(pid, signal); // Linux before 5.3
        return;
    }
    if (still_ours(pid)) ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

/// A signal for a process that was seen, and for none that got its number meanwhile.
void signal_seen(const ProcStat& seen, int signal);

/// SIGKILL for a process; see `signal_checked`.
template <typename StillOurs>
void kill_checked(pid_t pid, StillOurs still_ours) {
    signal_checked(pid, SIGKILL, still_ours);
}

/// Takes the exit status of every child that has ended, except `spare` and `other`. True while there are
/// other children.
bool reap_children(pid_t spared, pid_t other = 0);

} // namespace assay
