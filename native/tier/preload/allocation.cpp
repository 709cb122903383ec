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
    if (front().takes(bytes) && alignment <= front().arena()->pager().chunk()) return front().allocate(bytes);
    return front().next().memalign(alignment, bytes);
}

bool too_large(std::size_t count, std::size_t bytes) {
    return bytes != 0 && count > PTRDIFF_MAX / bytes;
}

void* move_in(void* at, std::size_t bytes) {
    const std::size_t before = front().next().usable == nullptr ? 0 : front().next().usable(at);
    void* const other = front().allocate(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    front().next().free(at);
    return other;
}

void* move_out(void* at, std::size_t bytes) {
    const std::size_t before = front().arena()->bytes_from(at);
    void* const other = front().next().malloc(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    front().arena()->free(at);
    return other;
}

} // namespace

ASSAY_TIER_EXPORT void* malloc(std::size_t bytes) {
    return front().takes(bytes) ? front().allocate(bytes) : front().next().malloc(bytes);
}

ASSAY_TIER_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
    if (too_large(count, bytes) || !front().takes(count * bytes)) return front().next().calloc(count, bytes);
    return front().allocate(count * bytes);
}

ASSAY_TIER_EXPORT void free(void* at) {
    if (!front().holds(at)) return front().next().free(at);
    if (front().is_in_child()) return;
    const int before = errno;
    front().arena()->free(at);
    errno = before;
}

ASSAY_TIER_EXPORT void* realloc(void* at, std::size_t bytes) {
    if (at == nullptr) return malloc(bytes);
    const bool inside = front().holds(at);
    if (inside && front().is_in_child()) say_forked();
    if (!inside && !front().takes(bytes)) return front().next().realloc(at, bytes);
    if (!inside) return move_in(at, bytes);
    if (bytes == 0) {
        free(at);
        return nullptr;
    }
    return front().takes(bytes) ? front().resize(at, bytes) : move_out(at, bytes);
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
    // In a child of a fork another thread may have had the arena's lock at that moment.
    if (front().holds(at)) return front().is_in_child() ? 0 : front().arena()->bytes_from(at);
    const auto usable = front().next().usable;
    return usable == nullptr || at == nullptr ? 0 : usable(at);
}
