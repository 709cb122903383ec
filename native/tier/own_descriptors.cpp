#include "tier/own_descriptors.hpp"

#include <fcntl.h>

namespace assay::tier::preload {

int OwnDescriptors::between(unsigned first, unsigned last) const {
    for (int fd = from_; fd < from_ + lifted_room; ++fd)
        if (owns(fd) && static_cast<unsigned>(fd) >= first && static_cast<unsigned>(fd) <= last) return fd;
    return -1;
}

OwnDescriptors::Flags OwnDescriptors::open_now() const {
    Flags open{};
    for (int i = 0; i < lifted_room; ++i)
        open[static_cast<std::size_t>(i)] = ::fcntl(from_ + i, F_GETFD) != -1;
    return open;
}

} // namespace assay::tier::preload
