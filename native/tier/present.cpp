#include "tier/present.hpp"

#include "tier/lifted.hpp"
#include "tier/sys.hpp"

#include <fcntl.h>

#include <cerrno>

namespace assay::tier {

Present::Present() : file_(lifted(Fd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)))) {}

int Present::read(const std::byte* from, std::span<std::uint64_t> entries) const {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) / page * sizeof(std::uint64_t);
    const ssize_t got = ::pread(file_.get(), entries.data(), entries.size_bytes(), static_cast<off_t>(at));
    if (got == static_cast<ssize_t>(entries.size_bytes())) return 0;
    return got < 0 ? errno : EIO;
}

bool Present::is_there(const std::byte* at) const {
    std::uint64_t entry = 0;
    return read(at, {&entry, 1}) == 0 && is_there(entry);
}

bool Present::is_missing(const std::byte* at) const {
    std::uint64_t entry = 0;
    return read(at, {&entry, 1}) == 0 && !is_there(entry);
}

} // namespace assay::tier
