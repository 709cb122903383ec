#include "tier/base/export.hpp"
#include "tier/base/sys.hpp"
#include "tier/preload/interposer.hpp"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using namespace assay::tier;
using namespace assay::tier::preload;

void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
    if (interposer().manages(bytes) && alignment <= interposer().arena()->pager().chunk())
        return interposer().allocate(bytes);
    return interposer().next().memalign(alignment, bytes);
}

bool too_large(std::size_t count, std::size_t bytes) {
    return bytes != 0 && count > PTRDIFF_MAX / bytes;
}

void* move_into_arena(void* at, std::size_t bytes) {
    const std::size_t before = interposer().next().usable == nullptr ? 0 : interposer().next().usable(at);
    void* const other = interposer().allocate(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    interposer().next().free(at);
    return other;
}

void* move_out_of_arena(void* at, std::size_t bytes) {
    const std::size_t before = interposer().arena()->bytes_until_end(at);
    void* const other = interposer().next().malloc(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    interposer().arena()->free(at);
    return other;
}

} // namespace

ASSAY_TIER_EXPORT void* malloc(std::size_t bytes) {
    return interposer().manages(bytes) ? interposer().allocate(bytes) : interposer().next().malloc(bytes);
}

ASSAY_TIER_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
    if (too_large(count, bytes) || !interposer().manages(count * bytes))
        return interposer().next().calloc(count, bytes);
    return interposer().allocate(count * bytes);
}

ASSAY_TIER_EXPORT void free(void* at) {
    if (!interposer().contains(at)) return interposer().next().free(at);
    if (interposer().is_in_child()) return;
    const int before = errno;
    interposer().arena()->free(at);
    errno = before;
}

ASSAY_TIER_EXPORT void* realloc(void* at, std::size_t bytes) {
    if (at == nullptr) return malloc(bytes);
    const bool inside = interposer().contains(at);
    if (inside && interposer().is_in_child()) abort_forked();
    if (!inside && !interposer().manages(bytes)) return interposer().next().realloc(at, bytes);
    if (!inside) return move_into_arena(at, bytes);
    if (bytes == 0) {
        free(at);
        return nullptr;
    }
    return interposer().manages(bytes) ? interposer().resize(at, bytes) : move_out_of_arena(at, bytes);
}

ASSAY_TIER_EXPORT void* reallocarray(void* at, std::size_t count, std::size_t bytes) {
    if (too_large(count, bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(at, count * bytes);
}

ASSAY_TIER_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
    return allocate_aligned(alignment, bytes);
}

ASSAY_TIER_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return allocate_aligned(alignment, bytes);
}

ASSAY_TIER_EXPORT int posix_memalign(void** at, std::size_t alignment, std::size_t bytes) {
    const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power || alignment % sizeof(void*) != 0) return EINVAL;
    const int before = errno;
    void* const found = allocate_aligned(alignment, bytes);
    errno = before;
    if (found == nullptr) return ENOMEM;
    *at = found;
    return 0;
}

ASSAY_TIER_EXPORT void* valloc(std::size_t bytes) {
    return allocate_aligned(page, bytes);
}

ASSAY_TIER_EXPORT void* pvalloc(std::size_t bytes) {
    return allocate_aligned(page, whole_pages(bytes));
}

ASSAY_TIER_EXPORT std::size_t malloc_usable_size(void* at) {
    // In a child process, another thread may have held the lock of the arena at the time of the fork.
    if (interposer().contains(at))
        return interposer().is_in_child() ? 0 : interposer().arena()->bytes_until_end(at);
    const auto usable = interposer().next().usable;
    return usable == nullptr || at == nullptr ? 0 : usable(at);
}
