#include "tier/pagemap.hpp"

#include "tier/lifted.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay::tier {

Pagemap::Pagemap() : file_(lifted(Fd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)))) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "/proc/self/pagemap");
}

const Pagemap::Seen* Pagemap::read(std::int64_t first, std::int64_t count) {
    constexpr std::size_t entry = sizeof(std::uint64_t);
    const std::size_t pages = static_cast<std::size_t>(count) * Granule::pages;
    const ssize_t got = ::pread(file_.get(), entries_.data(), pages * entry,
                                first * static_cast<std::int64_t>(Granule::pages * entry));
    std::fill(entries_.begin() + std::max<ssize_t>(got, 0) / static_cast<ssize_t>(entry),
              entries_.begin() + static_cast<std::ptrdiff_t>(pages), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        Seen seen;
        for (std::size_t bit = 0; bit < Granule::pages; ++bit) {
            const std::uint64_t one = entries_[i * Granule::pages + bit];
            seen.present |= (one >> 63U) << bit;
            seen.swapped |= (one >> 62U & 1U) << bit;
        }
        seen_[i] = seen;
    }
    return seen_.data();
}

} // namespace assay::tier
