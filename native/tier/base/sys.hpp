#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 // Linux 5.4
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

namespace assay::tier {

inline constexpr std::size_t page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Convert an address that the kernel reports as a number.
inline std::byte* address(std::uint64_t at) {
    return reinterpret_cast<std::byte*>(at); // NOLINT
}

/// Round an address up to a multiple.
inline std::byte* aligned(std::byte* at, std::size_t to) {
    const auto over = reinterpret_cast<std::uintptr_t>(at) % to;
    return over == 0 ? at : at + (to - over);
}

/// Round a length up to whole pages.
inline std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page - 1) / page * page;
}

} // namespace assay::tier

/// Memory management by direct system calls. The preload library interposes on `mmap` and its siblings, and
/// its own calls must bypass them.
namespace assay::tier::sys {

/// Map anonymous memory. \returns null with errno.
inline std::byte* map(void* at, std::size_t bytes, int protection, int flags) {
    const long found = ::syscall(SYS_mmap, at, bytes, protection, flags, -1, 0L);
    return found == -1 ? nullptr : reinterpret_cast<std::byte*>(found); // NOLINT: the kernel gives a number
}

/// Map private anonymous memory; pages are allocated at the first access.
inline std::byte* map(std::size_t bytes) {
    return map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

/// Map bytes of a file, shared with other processes. \param from offset in bytes, a multiple of the page
/// size.
inline std::byte* map_file(int fd, std::size_t bytes, std::size_t from = 0) {
    const long found = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
    return found == -1 ? nullptr : reinterpret_cast<std::byte*>(found); // NOLINT: the kernel gives a number
}

inline int unmap(void* at, std::size_t bytes) {
    return static_cast<int>(::syscall(SYS_munmap, at, bytes));
}

/// Move all pages to another address, replacing its mapping. The source remains mapped and empty.
///
/// \returns 0 or an error number; on failure the destination may be unmapped.
inline int move_pages(void* to, void* from, std::size_t bytes) {
#ifndef MREMAP_DONTUNMAP
    constexpr int MREMAP_DONTUNMAP = 4; // Linux 5.7
#endif
    const long found =
        ::syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to);
    return found == -1 ? errno : 0;
}

inline int protect(void* at, std::size_t bytes, int protection) {
    return static_cast<int>(::syscall(SYS_mprotect, at, bytes, protection));
}

inline int advise(void* at, std::size_t bytes, int advice) {
    return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice));
}

/// Select the page size for chunks: huge pages if chunks consist of whole ones, else small pages, because
/// smaller moves would split huge pages.
inline void size_pages(void* at, std::size_t bytes, std::size_t chunk) {
    advise(at, bytes, chunk % huge_page == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

} // namespace assay::tier::sys
