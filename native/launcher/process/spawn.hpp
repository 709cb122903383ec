#pragma once

#include "common/fd.hpp"
#include "launcher/process/steps.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace assay {

/// Program to execute, prepared completely before the clone.
class Program {
  public:
    /// Variables that name the caller's process id are changed to the program's: socket activation and
    /// watchdog of systemd (sd_listen_fds(3), sd_watchdog_enabled(3)).
    Program(const Plan& plan, char** environment, pid_t caller = 0);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] const char* const* candidates() const { return candidate_pointers_.data(); }
    [[nodiscard]] const char* const* argv() const { return argv_.data(); }
    [[nodiscard]] const char* const* envp() const { return envp_.data(); }
    /// Write the program's process id into those variables. Does not allocate.
    void write_process_ids(long pid) const;
    /// Return argv of a shell that runs the program as a script. The caller sets its second element to the
    /// candidate path.
    [[nodiscard]] const char** shell_argv() const { return shell_argv_.data(); }

  private:
    void build_environment(const Plan& plan, char** environment, pid_t caller);
    void find_candidates(const std::string& name);

    std::vector<std::string> set_;        // "NAME=value"
    std::vector<char*> process_ids_;      // positions of the digits in some of them
    std::vector<std::string> candidates_; // paths to try, in the order of PATH
    std::vector<const char*> candidate_pointers_;
    std::vector<const char*> argv_;
    std::vector<const char*> envp_;
    mutable std::vector<const char*> shell_argv_;
};

struct Spawned {
    pid_t pid = -1;
    Fd pidfd;
    int error = 0;          // errno of clone
    bool in_cgroup = false; // already in the requested control group
};

class InstanceGroup;

/// Barrier at which an instance waits, after its steps, until all instances are ready.
struct StartBarrier {
    int ready = -1;         // receives a byte from each instance
    int release = -1;       // reaches end of file at the release
    int release_write = -1; // writing end of it; only the leader may keep it open
};

/// Start the program after carrying out the steps. `cgroup` is the folder of a v2 control group, or -1.
/// `legacy_clone` selects clone instead of clone3, which some container runtimes forbid.
Spawned spawn(const Steps& steps, const Program& program, Progress& progress, int cgroup, bool legacy_clone);

/// Start the leader of several instances, which never calls exec.
Spawned spawn_leader(const Steps& steps, InstanceGroup& instances, Progress& progress, int cgroup,
                     bool legacy_clone);

/// Start the program in a copy of this memory: an instance, which waits at the barrier, or the stop command.
/// Return its process id, or -errno.
long fork_program(const Steps& steps, const Program& program, Progress& progress,
                  const StartBarrier* barrier);

#ifdef ASSAY_SANITIZED
// Sanitizers support neither foreign stacks nor shared address spaces.
inline constexpr bool share_memory = false;
#else
inline constexpr bool share_memory = true;
#endif

} // namespace assay
