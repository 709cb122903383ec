#include "tier/base/export.hpp"
#include "tier/base/sys.hpp"
#include "tier/preload/interposer.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

using namespace assay::tier;
using namespace assay::tier::preload;

/// Return true for a mapping of ordinary memory: private, anonymous, readable and writable, at any address.
bool is_ordinary(void* at, std::size_t bytes, int protection, int flags) {
    constexpr int other = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_SHARED | MAP_NORESERVE | MAP_HUGETLB |
                          MAP_GROWSDOWN | MAP_STACK | MAP_LOCKED | MAP_32BIT;
    return at == nullptr && interposer().manages(bytes) && protection == (PROT_READ | PROT_WRITE) &&
           (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS) && (flags & other) == 0;
}

} // namespace

ASSAY_TIER_EXPORT void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd,
                             off_t offset) noexcept {
    if (is_ordinary(at, bytes, protection, flags)) {
        void* const found = interposer().allocate(bytes);
        return found == nullptr ? MAP_FAILED : found;
    }
    const long found = ::syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    return reinterpret_cast<void*>(found); // NOLINT: the kernel gives a number
}

ASSAY_TIER_EXPORT void* mmap64(void* at, std::size_t bytes, int protection, int flags, int fd,
                               off64_t offset) noexcept {
    return mmap(at, bytes, protection, flags, fd, offset);
}

ASSAY_TIER_EXPORT int munmap(void* at, std::size_t bytes) noexcept {
    if (!interposer().contains(at)) return sys::unmap(at, bytes);
    if (bytes == 0 || reinterpret_cast<std::uintptr_t>(at) % page != 0) {
        errno = EINVAL;
        return -1;
    }
    if (!interposer().is_in_child()) interposer().arena()->unmap(at, bytes);
    return 0;
}

ASSAY_TIER_EXPORT void* mremap(void* at, std::size_t before, std::size_t bytes, int flags, ...) noexcept {
    va_list more;
    va_start(more, flags);
    void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
    va_end(more);
    if (!interposer().contains(at)) {
        const long found = ::syscall(SYS_mremap, at, before, bytes, flags, wanted);
        return reinterpret_cast<void*>(found); // NOLINT: the kernel gives a number
    }
    if (interposer().is_in_child()) abort_forked();
    before = whole_pages(before);
    // Fixed addresses and MREMAP_DONTUNMAP are not supported; ordinary memory does not need them.
    if ((flags & ~MREMAP_MAYMOVE) != 0 || bytes == 0 || bytes > PTRDIFF_MAX) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    bytes = whole_pages(bytes);
    if (bytes <= before) {
        if (bytes < before) interposer().arena()->unmap(static_cast<std::byte*>(at) + bytes, before - bytes);
        return at;
    }
    if ((flags & MREMAP_MAYMOVE) == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const other = interposer().allocate(bytes);
    if (other == nullptr) return MAP_FAILED;
    std::memcpy(other, at, before);
    interposer().arena()->unmap(at, before);
    return other;
}

ASSAY_TIER_EXPORT int madvise(void* at, std::size_t bytes, int advice) noexcept {
    const bool in_page = reinterpret_cast<std::uintptr_t>(at) % page != 0;
    if (!interposer().contains(at) || bytes == 0 || in_page || interposer().is_in_child())
        return sys::advise(at, bytes, advice);
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
        interposer().arena()->discard(at, whole_pages(bytes));
        return 0;
    case MADV_WILLNEED:
        interposer().arena()->prefetch(at, bytes);
        return 0;
    case MADV_NORMAL:
        interposer().arena()->advise(at, bytes, AccessPattern::unknown);
        return 0;
    case MADV_SEQUENTIAL:
        interposer().arena()->advise(at, bytes, AccessPattern::sequential);
        return 0;
    case MADV_RANDOM:
        interposer().arena()->advise(at, bytes, AccessPattern::random);
        return 0;
    case MADV_COLD:
    case MADV_PAGEOUT:
        interposer().arena()->evict(at, bytes);
        return 0;
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_COLLAPSE:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE:
        // The pager decides on page sizes and forks of this memory.
        return 0;
    default:
        errno = EINVAL;
        return -1;
    }
}
