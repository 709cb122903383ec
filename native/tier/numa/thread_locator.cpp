#include "tier/numa/thread_locator.hpp"

#include <linux/rseq.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>

// glibc 2.35. The C library of the program may be older than that of the build.
extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace assay::tier {

namespace {

/// Return the beginning of a thread's list of robust locks; null without one.
std::byte* robust_list_of(pid_t thread) {
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    return ::syscall(SYS_get_robust_list, thread, &first, &bytes) == 0 ? first : nullptr;
}

} // namespace

ThreadLocator::ThreadLocator() {
    std::byte* const own = robust_list_of(0);
    if (&__rseq_size == nullptr || __rseq_size == 0 || own == nullptr) return;
    auto* const area = static_cast<std::byte*>(__builtin_thread_pointer()) + __rseq_offset;
    cpu_offset_ = area + offsetof(rseq, cpu_id) - own;
}

std::optional<int> ThreadLocator::last_cpu(pid_t thread) const {
    std::byte* const robust_list = cpu_offset_ ? robust_list_of(thread) : nullptr;
    if (robust_list == nullptr) return std::nullopt;
    // Read through the kernel: the thread may have exited and its memory may be unmapped.
    std::int32_t cpu = -1;
    iovec here{&cpu, sizeof cpu}, there{robust_list + *cpu_offset_, sizeof cpu};
    if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof cpu) || cpu < 0)
        return std::nullopt; // Negative if the thread is not registered.
    return cpu;
}

} // namespace assay::tier
