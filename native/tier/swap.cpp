#include "tier/swap.hpp"

#include "common/fd.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace assay::tier {

/// A line of heads, and one of each swap: proc_swaps(5).
void demand_swap() {
    const Fd file(::open("/proc/swaps", O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> text{};
    const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : 0;
    if (std::count(text.begin(), text.begin() + std::max<ssize_t>(length, 0), '\n') > 1) return;
    throw std::runtime_error("no swap is in use, so there is nothing to advise, and the program runs as it "
                             "does without: make one as root (fallocate -l SIZE FILE, chmod 600 FILE, mkswap "
                             "FILE, swapon FILE)");
}

} // namespace assay::tier
