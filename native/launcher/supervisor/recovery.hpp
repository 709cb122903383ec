#pragma once

#include "common/fd.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// End the process tree of a supervisor that was killed, remove its control group and write the record. The
/// kernel has killed the program already (parent-death signal); the launcher has adopted the remaining
/// processes.
///
/// `plan` needs few keys. `containment` is `cgroup` if the supervisor had created the group `cgroup_name`,
/// `none` if it had created none, and `automatic` if it was killed before it published either. Returns the
/// exit status of assay-exec.
int recover(const Plan& plan, const std::optional<Fd>& record);

/// Executes a new image of assay-exec for the recovery: the launcher shares its heap with the supervisor,
/// which may have been killed while changing it.
class SupervisorRecovery {
  public:
    /// Prepare the arguments. Call this before the supervisor exists.
    SupervisorRecovery(const Plan& plan, const std::optional<Fd>& record, char** environment);

    /// Replace this process. Returns only on failure.
    void exec(const SharedState& shared);

  private:
    std::vector<std::string> words_;
    std::vector<const char*> argv_;
    char** environment_;
    int record_;
};

} // namespace assay
