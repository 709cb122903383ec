#include "tier/base/pagemap_reader.hpp"

#include "tier/base/sys.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace assay::tier {

namespace {

// These definitions of include/uapi/linux/fs.h (Linux 6.7) are newer than the headers of Debian 12. Their
// names differ from those of newer headers, which define macros and structures.
struct PageRegion {
    std::uint64_t start, end, categories;
};
struct ScanArguments {
    std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted,
        category_mask, category_anyof_mask, return_mask;
};
constexpr std::uint64_t of_huge = 1U << 6U;
constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);

} // namespace

PagemapReader::PagemapReader() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

int PagemapReader::read(const std::byte* from, std::span<std::uint64_t> entries) const {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) / page * sizeof(std::uint64_t);
    const ssize_t got = ::pread(file_.get(), entries.data(), entries.size_bytes(), static_cast<off_t>(at));
    if (got == static_cast<ssize_t>(entries.size_bytes())) return 0;
    return got < 0 ? errno : EIO;
}

bool PagemapReader::is_populated(const std::byte* at) const {
    std::uint64_t entry = 0;
    return read(at, {&entry, 1}) == 0 && is_populated(entry);
}

bool PagemapReader::is_empty(const std::byte* at) const {
    std::uint64_t entry = 0;
    return read(at, {&entry, 1}) == 0 && !is_populated(entry);
}

bool PagemapReader::is_huge(const std::byte* at) const {
    PageRegion found{};
    const auto from = reinterpret_cast<std::uint64_t>(at);
    ScanArguments asked{.size = sizeof asked,
                        .flags = 0,
                        .start = from,
                        .end = from + page,
                        .walk_end = 0,
                        .vec = reinterpret_cast<std::uint64_t>(&found),
                        .vec_len = 1,
                        .max_pages = 0,
                        .category_inverted = 0,
                        .category_mask = of_huge,
                        .category_anyof_mask = 0,
                        .return_mask = of_huge};
    return ::ioctl(file_.get(), pagemap_scan, &asked) > 0;
}

} // namespace assay::tier
