#pragma once

#include "common/fd.hpp"
#include "common/groups.hpp"
#include "launcher/containment/cgroup_folder.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/documents/plan.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Mounted hierarchies: `root` itself is a v2 mount, or contains one v1 mount per controller and, in hybrid
/// mode, a v2 mount named "unified".
class Hierarchies {
  public:
    /// Find the hierarchies below `root`. Return nothing, with the reason in `why`, if there are none.
    static std::optional<Hierarchies> find(const std::string& root, std::string& why);

    /// Return false if `root` exists but contains no hierarchy in which a leaf could be created.
    [[nodiscard]] bool any_mounted() const;
    [[nodiscard]] int root() const { return root_.get(); }
    [[nodiscard]] bool pure_v2() const { return pure_v2_; }
    [[nodiscard]] bool has_unified() const { return pure_v2_ || hybrid_; }
    [[nodiscard]] bool has_v1(std::string_view controller) const { return own_line(controller).has_value(); }

    /// Return the path, relative to the root, of the v2 hierarchy (controller "") or a v1 one.
    [[nodiscard]] std::string mount(std::string_view controller) const;
    /// Create the control group `name` in the v2 hierarchy (controller "") or a v1 one: below `parent` if
    /// given, or else below our own control group. On failure return nothing and set errno.
    [[nodiscard]] std::optional<CgroupFolder> make(std::string_view controller,
                                                   const std::optional<std::string>& parent,
                                                   const std::string& name) const;
    /// Select whether `make` adopts existing control groups.
    void adopt(bool whether) { adopting_ = whether; }
    /// Return the path, relative to the root, of the folder in which `make` creates groups.
    [[nodiscard]] std::string home(std::string_view controller,
                                   const std::optional<std::string>& parent) const;
    /// Thaw the v1 control groups of a process. A frozen v1 process does not even die of SIGKILL; a frozen v2
    /// process does.
    void thaw(pid_t pid) const;

  private:
    /// Return our own position; nothing for a v1 controller if `root` contains no v1 hierarchy.
    [[nodiscard]] std::optional<GroupLine> own_line(std::string_view controller) const {
        return pure_v2_ && !controller.empty() ? std::nullopt : group_line(own_, controller);
    }

    Fd root_;
    bool pure_v2_ = false;
    bool hybrid_ = false;
    bool adopting_ = false;
    std::string own_; // /proc/self/cgroup
};

/// Create the control group of one launch: v2, hybrid or v1. Return null, with the reason in `why`, on
/// failure.
std::unique_ptr<Containment> make_leaf(const Plan& plan, pid_t launcher, std::string& why);

/// Adopt the group of a supervisor that was killed, by its name in the plan. Return null if the group is
/// gone.
std::unique_ptr<Containment> adopt_leaf(Plan plan);

/// Remove the groups of a supervisor that was killed before it published them: empty groups with the names
/// that `make_leaf` uses.
void remove_unfinished_leaf(const Plan& plan, pid_t launcher);

/// Remove the group that a preforked launcher created for the default plan before it was killed.
void remove_preforked_leaf(const Hierarchies& hierarchies, pid_t launcher);

struct LeafAttempt {
    std::unique_ptr<Containment> leaf;
    std::string why;    // reason, without a leaf
    bool taken = false; // a control group of that name exists
};

LeafAttempt make_v2_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name);
LeafAttempt make_v1_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name);

/// Memory controller of one folder. v1 and v2 differ only in the names of files and keys.
class MemoryController {
  public:
    static std::optional<MemoryController> in(const CgroupFolder& folder, bool v2);

    /// Set the limit. Return 0 or the errno.
    [[nodiscard]] int limit(const CgroupFolder& folder, std::int64_t bytes) const;
    [[nodiscard]] std::optional<TreeMemory> memory() const;
    [[nodiscard]] std::optional<std::int64_t> peak(const CgroupFolder& folder) const;
    [[nodiscard]] std::optional<std::int64_t> oom_kills(const CgroupFolder& folder) const;
    /// Return whether processes were killed because the limit of this folder was reached, not that of a group
    /// above.
    [[nodiscard]] bool limit_hit(const CgroupFolder& folder) const;

  private:
    struct Names;
    [[nodiscard]] std::optional<std::int64_t> faulted(std::string_view text) const;
    explicit MemoryController(const Names& names) : names_(&names) {}

    static const Names v1_names;
    static const Names v2_names;
    const Names* names_;
    Fd stat_; // kept open for repeated reading
};

/// Return whether the peak charge of a v1 group reached its limit. `memory.failcnt` is unsuitable: it may
/// stay 0 (Linux 6.18, with a swap limit).
bool limit_was_reached(std::int64_t peak, std::int64_t limit);

/// Set the limit of the controller "pids", which is the same in both versions. Return 0 or the errno.
int limit_pids(const CgroupFolder& folder, std::int64_t max_processes);
bool pids_limit_hit(const CgroupFolder& folder);

/// Return the message for a control group that could not be created.
std::string creation_error(std::string_view what, int error);

} // namespace assay
