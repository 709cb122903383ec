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

/// Standard error of the program, as it is just now. To open it anew is the second best: where it is a file
/// the two have places of their own in it.
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
    // A thread with a descriptor table of its own has none of the program's.
    const Fd theirs = program_error();
    if (theirs && ::write(theirs.get(), line.data(), length) < 0) return;
}

void abort_with_message(std::initializer_list<std::string_view> words) {
    print_message(words);
    // Not the program's handler: it may touch what is waited for here.
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
}

} // namespace assay::tier
