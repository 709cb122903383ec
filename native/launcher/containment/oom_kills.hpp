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

/// The control group that the memory of this process is charged to, and those above it, read only. The names
/// of files are those of `cgroup_root`, so that other roots can be looked at.
class MemoryControlGroups {
  public:
    static std::optional<MemoryControlGroups> find(const std::string& root,
                                                   const std::optional<std::string>& parent);

    /// Count the processes of the nearest group that the kernel has killed for memory.
    [[nodiscard]] std::optional<std::int64_t> kills() const;
    /// The group whose limit was reached and that limit, in words; the nearest one where several were.
    [[nodiscard]] std::string reached() const;

  private:
    struct Group {
        std::string path; // relative to the root
        std::string name; // as /proc/PID/cgroup has it
    };
    [[nodiscard]] std::optional<std::int64_t> number(const Group& group, const char* file,
                                                     const char* key) const;
    [[nodiscard]] std::optional<std::int64_t> limit(const Group& group) const;
    [[nodiscard]] bool was_reached(const Group& group) const;

    std::optional<Hierarchies> hierarchies_;
    bool v2_ = false;
    std::vector<Group> groups_; // nearest first
};

/// Notices that the kernel has killed a process of the tree for memory although the tree is within the limits
/// of its own: a group above has reached its limit, or the machine has no more.
///
/// The launch's own control group counts such processes itself. Without it the group of the launcher does,
/// in which other programs may have been meant. A process of this tree must then have ended within some
/// seconds: the program by SIGKILL, or another one that was large.
class OomKillDetector final : public PeriodicTask {
  public:
    OomKillDetector(Containment& containment, const Plan& plan, pid_t program, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;
    /// Looks a last time, once the program has ended: whether by SIGKILL.
    void end(Nanos now, bool program_killed);

    /// Why the launch cannot go on, or nothing.
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
    // Where the group of the launcher counts.
    std::int64_t kills_before_ = 0; // kills there
    Nanos last_check_ = 0;          // at the last look
    Nanos window_start_ = 0;        // a process that ended from here
    Nanos window_end_ = 0;          // to here may be the one that was counted
    Nanos last_ended_ = -1;         // when a large process was last seen to have ended
    std::vector<pid_t> large_;      // processes of the tree at the last look, but for the program
    std::optional<std::string> found_;
};

} // namespace assay
