#include "tier/checks/semantics/area.hpp"

#include "tier/checks/semantics/seen.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

namespace assay::tier::semantics {

GuardedArea::GuardedArea(std::size_t bytes, int advice)
    : bytes_(bytes), reserved_(bytes + 2 * huge_page),
      all_(sys::map(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)) {
    if (all_ == nullptr) throw std::bad_alloc();
    at_ = all_ + (huge_page - reinterpret_cast<std::uintptr_t>(all_) % huge_page);
    protect(PROT_READ | PROT_WRITE);
    advise(advice);
}

GuardedArea::~GuardedArea() {
    sys::unmap(all_, reserved_);
}

void GuardedArea::fill() const {
    std::memset(at_, std::to_integer<int>(written), bytes_);
}

void GuardedArea::protect(int protection) const {
    if (::mprotect(at_, bytes_, protection) != 0)
        throw std::system_error(errno, std::generic_category(), "mprotect");
}

int GuardedArea::advise(int advice) const {
    return error_of(sys::advise(at_, bytes_, advice));
}

void GuardedArea::lock() const {
    if (::mlock2(at_, bytes_, MLOCK_ONFAULT) != 0)
        throw Skipped(std::string("memory cannot be locked: ") + std::strerror(errno));
}

std::byte byte_at(const std::byte* at) {
    return *static_cast<const volatile std::byte*>(at);
}

void write_byte(std::byte* at) {
    *static_cast<volatile std::byte*>(at) = written;
}

} // namespace assay::tier::semantics
