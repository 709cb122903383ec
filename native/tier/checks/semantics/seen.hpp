#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::tier::semantics {

/// Thrown for a row that this machine cannot show.
class Skipped : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::string named(int error) {
    const char* const name = error == 0 ? "done" : ::strerrorname_np(error);
    return name == nullptr ? std::to_string(error) : name;
}

/// Return the error number of a call that reports failure by -1.
template <class Number>
int error_of(Number status) {
    return status < 0 ? errno : 0;
}

/// Observations of a row, compared with the pager's assumptions.
class Seen {
  public:
    void is(std::string_view step, const std::string& found, const std::string& relied_on) {
        note(std::string(step) + ": " + found + (found == relied_on ? "" : " instead of " + relied_on));
        as_relied_on_ = as_relied_on_ && found == relied_on;
    }
    void error(std::string_view step, int found, int relied_on) { is(step, named(found), named(relied_on)); }
    void byte(std::string_view step, std::byte found, std::byte relied_on) {
        is(step, std::to_string(std::to_integer<int>(found)),
           std::to_string(std::to_integer<int>(relied_on)));
    }
    void note(const std::string& text) { text_ += (text_.empty() ? "" : "; ") + text; }

    [[nodiscard]] bool as_relied_on() const { return as_relied_on_; }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    bool as_relied_on_ = true;
};

} // namespace assay::tier::semantics
