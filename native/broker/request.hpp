#pragma once

#include "broker/allocator.hpp"

#include <sys/types.h>

#include <stdexcept>
#include <string_view>

namespace assay::broker {

class RequestError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Verb { show, reserve, move, begin_deletion };

/// Request of a client.
struct Request {
    Verb verb = Verb::show;
    Share share;   ///< Share to reserve; for `move`, the CPUs to which the process is restricted.
    pid_t pid = 0; ///< Process to move.
};

/// Parse one packet.
///
/// Throws RequestError if it is invalid.
Request parse_request(std::string_view text);

} // namespace assay::broker
