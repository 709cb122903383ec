#include "tier/numa/thread_locator.hpp"

#include <linux/rseq.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>

// glibc 2.35; the program's own may be older than the one that this was built with.
extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace assay::tier {

namespace {

/// Where its list of robust locks begins; null where it has none.
std::byte* locks_of(pid_t thread) {
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    return ::syscall(SYS_get_robust_list, thread, &first, &bytes) == 0 ? first : nullptr;
}

} // namespace

Whereabouts::Whereabouts() {
    std::byte* const own = locks_of(0);
    if (&__rseq_size == nullptr || __rseq_size == 0 || own == nullptr) return;
    auto* const area = static_cast<std::byte*>(__builtin_thread_pointer()) + __rseq_offset;
    from_locks_ = area + offsetof(rseq, cpu_id) - own;
}

std::optional<int> Whereabouts::last_cpu_of(pid_t thread) const {
    std::byte* const locks = from_locks_ ? locks_of(thread) : nullptr;
    if (locks == nullptr) return std::nullopt;
    // By way of the kernel: whoever waited may have ended meanwhile, and its memory be gone.
    std::int32_t cpu = -1;
    iovec here{&cpu, sizeof cpu}, there{locks + *from_locks_, sizeof cpu};
    if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof cpu) || cpu < 0)
        return std::nullopt; // Negative where it was not registered.
    return cpu;
}

} // namespace assay::tier
