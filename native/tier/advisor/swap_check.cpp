#include "tier/advisor/swap_check.hpp"

#include "common/fd.hpp"
#include "tier/advisor/granule_scanner.hpp"
#include "tier/base/sys.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

namespace assay::tier {

namespace {

/// Temporary memory for the test.
class TestPages {
  public:
    explicit TestPages(std::size_t bytes) : bytes_(bytes), at_(sys::map(bytes)) {
        if (at_ == nullptr) throw std::bad_alloc();
    }
    TestPages(const TestPages&) = delete;
    TestPages& operator=(const TestPages&) = delete;
    ~TestPages() { sys::unmap(at_, bytes_); }

    [[nodiscard]] std::byte* at() const { return at_; }

  private:
    std::size_t bytes_;
    std::byte* at_;
};

} // namespace

/// /proc/swaps has a header and one line for each device (proc_swaps(5)).
void require_swap() {
    const Fd file(::open("/proc/swaps", O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> text{};
    const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : 0;
    if (std::count(text.begin(), text.begin() + std::max<ssize_t>(length, 0), '\n') > 1) return;
    throw std::runtime_error(
        "no swap is in use, so memory cannot be paged out: create one as root (fallocate -l "
        "SIZE FILE, chmod 600 FILE, mkswap FILE, swapon FILE)");
}

void require_page_out() {
    const TestPages test(page);
    if (sys::advise(test.at(), page, MADV_PAGEOUT) != 0)
        throw std::runtime_error(
            "this kernel does not page out on request (MADV_PAGEOUT): use Linux 5.4 or newer");
}

void test_page_out() {
    const TestPages test(2 * Granule::bytes);
    std::byte* const first = aligned(test.at(), Granule::bytes);
    const auto number = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(first) / Granule::bytes);
    std::fill_n(first, Granule::bytes, std::byte{1});
    GranuleScanner pagemap;
    // Pages still in the batches of another CPU are skipped.
    for (int i = 0; i < 20; ++i) {
        sys::advise(first, Granule::bytes, MADV_PAGEOUT);
        if (pagemap.read(number, 1)->swapped != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw std::runtime_error("swap accepts no memory of this user: enlarge it (/proc/swaps), or raise "
                             "memory.swap.max of the control group");
}

} // namespace assay::tier
