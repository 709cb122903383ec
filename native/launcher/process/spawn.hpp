#pragma once

#include "common/fd.hpp"
#include "launcher/process/steps.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace assay {

/// What is to be executed: prepared in full before the clone.
class Program {
  public:
    /// Variables that are for the caller, by its process id, are then for the program: sockets and the
    /// watchdog of systemd (sd_listen_fds(3), sd_watchdog_enabled(3)).
    Program(const Plan& plan, char** environment, pid_t caller = 0);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] const char* const* candidates() const { return candidate_pointers_.data(); }
    [[nodiscard]] const char* const* argv() const { return argv_.data(); }
    [[nodiscard]] const char* const* envp() const { return envp_.data(); }
    /// Write the program's process id into those variables. Allocates nothing.
    void write_process_ids(long pid) const;
    /// argv of a shell that reads the program as a script; its second word is the candidate.
    [[nodiscard]] const char** shell_argv() const { return shell_argv_.data(); }

  private:
    void build_environment(const Plan& plan, char** environment, pid_t caller);
    void find_candidates(const std::string& name);

    std::vector<std::string> set_;        // "NAME=value"
    std::vector<char*> process_ids_;      // digits in some of them
    std::vector<std::string> candidates_; // where PATH says the program may be
    std::vector<const char*> candidate_pointers_;
    std::vector<const char*> argv_;
    std::vector<const char*> envp_;
    mutable std::vector<const char*> shell_argv_;
};

struct Spawned {
    pid_t pid = -1;
    Fd pidfd;
    int error = 0;          // errno of the clone
    bool in_cgroup = false; // already in the control group that was given
};

class InstanceGroup;

/// Where an instance waits, once its steps are carried out, until all others have come so far.
struct StartBarrier {
    int ready = -1;         // takes a byte from each
    int release = -1;       // ends when they may go on
    int release_write = -1; // its other end, which nobody but the leader may hold
};

/// Starts the program with the steps carried out. `cgroup` is the folder of a v2 control group, or -1. With
/// `legacy_clone` it uses clone instead of clone3, which some container run-times refuse.
Spawned spawn(const Steps& steps, const Program& program, Progress& progress, int cgroup, bool legacy_clone);

/// The same for the leader of a team, which becomes no program.
Spawned spawn_leader(const Steps& steps, InstanceGroup& instances, Progress& progress, int cgroup,
                     bool legacy_clone);

/// Starts the program in a copy of this memory: an instance in the leader, which stops at the gate, or what
/// runs beside the program. Its process id, or -errno.
long fork_program(const Steps& steps, const Program& program, Progress& progress,
                  const StartBarrier* barrier);

#ifdef ASSAY_SANITIZED
// A sanitizer's bookkeeping knows neither foreign stacks nor shared address spaces.
inline constexpr bool share_memory = false;
#else
inline constexpr bool share_memory = true;
#endif

} // namespace assay
