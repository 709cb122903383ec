#include "tier/checks/semantics/children.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

namespace assay::tier::semantics {

pid_t forked(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child > 0) return child;
    ::signal(SIGBUS, SIG_DFL);
    ::signal(SIGSEGV, SIG_DFL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::alarm(5);
    try {
        ::_exit(work());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(255);
    }
}

std::string ending(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child)
        throw std::system_error(errno, std::generic_category(), "waitpid");
    if (WIFSIGNALED(status)) return std::string("SIG") + ::sigabbrev_np(WTERMSIG(status));
    return "ends with " + std::to_string(WEXITSTATUS(status));
}

} // namespace assay::tier::semantics
