#pragma once

#include "common/fd.hpp"
#include "launcher/shared.hpp"
#include "launcher/steps.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace assay {

/// What is to be executed: prepared in full before the clone.
class Program {
  public:
    Program(const Plan& plan, char** environment);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] const char* const* candidates() const { return candidate_pointers_.data(); }
    [[nodiscard]] const char* const* argv() const { return argv_.data(); }
    [[nodiscard]] const char* const* envp() const { return envp_.data(); }
    /// argv of a shell that reads the program as a script; its second word is the candidate.
    [[nodiscard]] const char** shell_argv() const { return shell_argv_.data(); }

  private:
    void build_environment(const Plan& plan, char** environment);
    void find_candidates(const std::string& name);

    std::vector<std::string> set_;        // "NAME=value"
    std::vector<std::string> candidates_; // where PATH says the program may be
    std::vector<const char*> candidate_pointers_;
    std::vector<const char*> argv_;
    std::vector<const char*> envp_;
    mutable std::vector<const char*> shell_argv_;
};

struct Spawned {
    pid_t pid = -1;
    Fd pidfd;
    int error = 0;     // errno of the clone
    bool born = false; // already in the control group that was given
};

/// Starts the program with the steps carried out. `cgroup` is the folder of a v2 control group, or -1. With
/// `legacy_clone` it uses clone instead of clone3, which some container run-times refuse.
Spawned spawn(const Steps& steps, const Program& program, Shared& shared, int cgroup, bool legacy_clone);

#ifdef ASSAY_SANITIZED
// A sanitizer's bookkeeping knows neither foreign stacks nor shared address spaces.
inline constexpr bool share_memory = false;
#else
inline constexpr bool share_memory = true;
#endif

} // namespace assay
