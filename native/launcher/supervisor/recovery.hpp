#pragma once

#include "common/fd.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Ends the tree of a keeper that was killed, removes its control group and writes the record. The kernel has
/// killed the program by then (its parent-death signal); what it left has been adopted by the front.
///
/// `plan` has what is needed of the plan: `containment` is `cgroup` where the keeper had made a group of the
/// name `cgroup_name`, `none` where it had made none, and `automatic` where it did not come to tell. Returns
/// what assay-exec exits with.
int recover(const Plan& plan, const std::optional<Fd>& record);

/// The front becomes a new image of assay-exec for that: it shared its heap with the keeper, which may have
/// been in the middle of changing it.
class SupervisorRecovery {
  public:
    /// To be made before the keeper.
    SupervisorRecovery(const Plan& plan, const std::optional<Fd>& record, char** environment);

    /// Returns only where no new image can be had.
    void exec(const SharedState& shared);

  private:
    std::vector<std::string> words_;
    std::vector<const char*> argv_;
    char** environment_;
    int record_;
};

} // namespace assay
