#pragma once

#include "broker/ledger.hpp"

#include <sys/types.h>

#include <stdexcept>
#include <string_view>

namespace assay::broker {

class QuestionError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Verb { show, reserve, move, begin_deletion };

/// What somebody at the other end of a connection asks for.
struct Question {
    Verb verb = Verb::show;
    Share share;   ///< To be reserved; of `move`, its CPUs are those to confine the process to.
    pid_t pid = 0; ///< To be moved.
};

/// One packet.
///
/// Throws QuestionError: it cannot be read.
Question parse_question(std::string_view text);

} // namespace assay::broker
