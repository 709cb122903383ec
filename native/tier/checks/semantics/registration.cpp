#include "tier/checks/semantics/registration.hpp"

#include "tier/checks/semantics/seen.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

namespace assay::tier::semantics {

Userfault userfault(std::uint64_t features) {
    const Userfault::Support support = Userfault::support();
    if (support.error != 0) throw Skipped(std::string("no userfaultfd: ") + std::strerror(support.error));
    if (!support.in_kernel)
        throw Skipped(
            "faults within system calls are reported only to root and to users of /dev/userfaultfd");
    if ((support.features & features) != features) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "the kernel lacks the features %#lx of userfaultfd",
                      static_cast<unsigned long>(features & ~support.features));
        throw Skipped(text.data());
    }
    return Userfault(features);
}

void watch(const Userfault& fault, std::byte* at, std::size_t bytes) {
    if (const int error = fault.register_range(at, bytes); error != 0)
        throw std::system_error(error, std::generic_category(), "UFFDIO_REGISTER");
}

void watch(const Userfault& fault, const GuardedArea& area) {
    watch(fault, area.at(), area.bytes());
}

int error_of_move(const Userfault& fault, const GuardedArea& to, const GuardedArea& from) {
    return fault.move(to.at(), from.at(), from.bytes()).error;
}

Evicted::Evicted(std::uint64_t features) : fault(userfault(features | UFFD_FEATURE_MOVE)) {
    region.fill();
    watch(fault, region);
    watch(fault, place);
    if (const int error = error_of_move(fault, place, region); error != 0)
        throw std::system_error(error, std::generic_category(), "UFFDIO_MOVE");
}

} // namespace assay::tier::semantics
