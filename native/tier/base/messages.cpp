#include "tier/base/messages.hpp"

#include "common/fd.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace assay::tier {

namespace {

/// Return the program's current standard error. Reopening it is the second choice, because a reopened regular
/// file has a separate offset.
Fd program_error() {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    Fd same(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), STDERR_FILENO, 0)));
    if (same || errno == EBADF) return same;
    return Fd(::open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
}

} // namespace

void print_message(std::initializer_list<std::string_view> words) {
    std::array<char, 1024> line{};
    std::size_t length = 0;
    const auto append = [&](std::string_view word) {
        const std::size_t fits =
            word.size() < line.size() - 1 - length ? word.size() : line.size() - 1 - length;
        std::memcpy(line.data() + length, word.data(), fits);
        length += fits;
    };
    append("assay tier: ");
    for (const std::string_view word : words) append(word);
    line[length++] = '\n';
    if (::write(STDERR_FILENO, line.data(), length) >= 0) return;
    // A thread with a private descriptor table does not share the program's standard error.
    const Fd error = program_error();
    if (error && ::write(error.get(), line.data(), length) < 0) return;
}

void abort_with_message(std::initializer_list<std::string_view> words) {
    print_message(words);
    // Bypass the program's handler: it may access memory that this thread has to fetch.
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
}

} // namespace assay::tier
