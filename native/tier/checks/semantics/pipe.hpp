#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace assay::tier::semantics {

struct Pipe {
    Pipe() {
        std::array<int, 2> fds{};
        if (::pipe2(fds.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        out = Fd(fds[0]);
        in = Fd(fds[1]);
    }
    Fd in, out;
};

} // namespace assay::tier::semantics
