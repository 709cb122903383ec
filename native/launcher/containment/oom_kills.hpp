#pragma once

#include "common/fd.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Control group to which the memory of this process is charged, and the groups above it; read only. File
/// names are relative to `cgroup_root`, so that recorded hosts can be read.
class MemoryControlGroups {
  public:
    static std::optional<MemoryControlGroups> find(const std::string& root,
                                                   const std::optional<std::string>& parent);

    /// Return the number of processes that the kernel has killed for memory in the nearest group.
    [[nodiscard]] std::optional<std::int64_t> kills() const;
    /// Describe the nearest group that reached its limit, and that limit.
    [[nodiscard]] std::string reached() const;

  private:
    struct Group {
        std::string path; // relative to the root
        std::string name; // as in /proc/PID/cgroup
    };
    [[nodiscard]] std::optional<std::int64_t> number(const Group& group, const char* file,
                                                     const char* key) const;
    [[nodiscard]] std::optional<std::int64_t> limit(const Group& group) const;
    [[nodiscard]] bool was_reached(const Group& group) const;

    std::optional<Hierarchies> hierarchies_;
    bool v2_ = false;
    std::vector<Group> groups_; // nearest first
};

/// Detects that the kernel has killed a process of the tree for memory although the tree is within its own
/// limits: a group above has reached its limit, or the machine is out of memory.
///
/// The launch's own control group counts such kills. Without one, the group of the launcher counts them,
/// together with kills of other programs. A process of this tree must then have ended within a few seconds:
/// the program by SIGKILL, or another large process.
class OomKillDetector final : public PeriodicTask {
  public:
    OomKillDetector(Containment& containment, const Plan& plan, pid_t program, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;
    /// Check once more after the program has ended. `program_killed` states that it ended by SIGKILL.
    void end(Nanos now, bool program_killed);

    /// Return the reason why the launch must end, or nothing.
    [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

  private:
    void check(Nanos now, bool program_killed);
    [[nodiscard]] bool killed(Nanos now, bool program_killed);
    [[nodiscard]] std::vector<pid_t> large_processes(const std::vector<pid_t>& tree) const;

    Containment& containment_;
    pid_t program_;
    bool enabled_;
    std::optional<MemoryControlGroups> groups_;
    Nanos interval_;
    Nanos due_;
    // Only for counting in the group of the launcher.
    std::int64_t kills_before_ = 0; // kills counted so far
    Nanos last_check_ = 0;          // time of the last check
    Nanos window_start_ = 0;        // earliest end of a process that may have been counted
    Nanos window_end_ = 0;          // latest end of such a process
    Nanos last_ended_ = -1;         // time at which the end of a large process was last observed
    std::vector<pid_t> large_;      // large processes of the tree at the last check, except the program
    std::optional<std::string> found_;
};

} // namespace assay
