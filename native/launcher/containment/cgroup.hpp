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

/// The mounted hierarchies: `root` itself is a v2 mount, or holds one v1 mount for each controller and, in
/// hybrid mode, a v2 mount called "unified".
class Hierarchies {
  public:
    /// Nothing where `root` is no such place; `why` says so.
    static std::optional<Hierarchies> find(const std::string& root, std::string& why);

    /// False where the root is there, but an empty folder: none of what a leaf could be made in.
    [[nodiscard]] bool any_mounted() const;
    [[nodiscard]] int root() const { return root_.get(); }
    [[nodiscard]] bool pure_v2() const { return pure_v2_; }
    [[nodiscard]] bool has_unified() const { return pure_v2_ || hybrid_; }
    [[nodiscard]] bool has_v1(std::string_view controller) const { return own_line(controller).has_value(); }

    /// Path of a hierarchy, relative to the root: the v2 one (controller "") or a v1 one.
    [[nodiscard]] std::string mount(std::string_view controller) const;
    /// A new control group `name`, of the v2 hierarchy (controller "") or a v1 one. With `parent` in that
    /// folder of the hierarchy, otherwise in our own control group. Nothing, with errno set, on failure.
    [[nodiscard]] std::optional<CgroupFolder> make(std::string_view controller,
                                                   const std::optional<std::string>& parent,
                                                   const std::string& name) const;
    /// From now on `make` takes those over that are there.
    void adopt(bool whether) { adopting_ = whether; }
    /// Path, relative to the root, of the folder in which `make` makes.
    [[nodiscard]] std::string home(std::string_view controller,
                                   const std::optional<std::string>& parent) const;
    /// Thaws the v1 control groups of a process. A frozen one does not even die of SIGKILL (v2 ones do).
    void thaw(pid_t pid) const;

  private:
    /// Where we are ourselves; in no v1 hierarchy where `root` holds none.
    [[nodiscard]] std::optional<GroupLine> own_line(std::string_view controller) const {
        return pure_v2_ && !controller.empty() ? std::nullopt : group_line(own_, controller);
    }

    Fd root_;
    bool pure_v2_ = false;
    bool hybrid_ = false;
    bool adopting_ = false;
    std::string own_; // /proc/self/cgroup
};

/// One launch's control group: v2, hybrid or v1, or null and why not.
std::unique_ptr<Containment> make_leaf(const Plan& plan, pid_t launcher, std::string& why);

/// The one that a killed keeper has left, by the name that the plan has for it; null where it is gone.
std::unique_ptr<Containment> adopt_leaf(Plan plan);

/// Removes what a keeper had made when it was killed before it could tell: empty groups of the names that
/// `make_leaf` gives.
void remove_unfinished_leaf(const Plan& plan, pid_t launcher);

/// Removes what a front made ahead for a plan that says nothing, and was killed before it could remove it.
void remove_preforked_leaf(const Hierarchies& hierarchies, pid_t launcher);

struct LeafAttempt {
    std::unique_ptr<Containment> leaf;
    std::string why;    // where there is no leaf
    bool taken = false; // a control group of that name exists
};

LeafAttempt make_v2_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name);
LeafAttempt make_v1_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name);

/// Memory controller of one folder. The two versions differ in names only.
class MemoryController {
  public:
    static std::optional<MemoryController> in(const CgroupFolder& folder, bool v2);

    /// 0, or the errno.
    [[nodiscard]] int limit(const CgroupFolder& folder, std::int64_t bytes) const;
    [[nodiscard]] std::optional<TreeMemory> memory() const;
    [[nodiscard]] std::optional<std::int64_t> peak(const CgroupFolder& folder) const;
    [[nodiscard]] std::optional<std::int64_t> oom_kills(const CgroupFolder& folder) const;
    /// Tell whether processes were killed because the limit of this folder was reached, not that of one
    /// above.
    [[nodiscard]] bool limit_hit(const CgroupFolder& folder) const;

  private:
    struct Names;
    [[nodiscard]] std::optional<std::int64_t> faulted(std::string_view text) const;
    explicit MemoryController(const Names& names) : names_(&names) {}

    static const Names v1_names;
    static const Names v2_names;
    const Names* names_;
    Fd stat_; // kept open: it is read again and again
};

/// Tell whether the highest charge of a v1 group came to its limit. Its file `memory.failcnt` may
/// stay 0 (Linux 6.18, where swap is limited too).
bool limit_was_reached(std::int64_t most, std::int64_t limit);

/// The controller "pids", alike in both versions. 0, or the errno.
int limit_pids(const CgroupFolder& folder, std::int64_t most);
bool pids_limit_hit(const CgroupFolder& folder);

/// The sentence for a control group that could not be made.
std::string cannot_make(std::string_view what, int error);

} // namespace assay
