#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Appends JSON to a string in the order of the calls. It accepts any bytes as text and replaces invalid
/// UTF-8 by U+FFFD, so the result is always valid.
class JsonWriter {
  public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view{text}); }
    /// Write a text and keep every byte: invalid UTF-8 becomes lone surrogates, U+DC80 to U+DCFF.
    JsonWriter& bytes(std::string_view text);
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
    JsonWriter& value(double number);
    JsonWriter& value(bool truth);

    template <typename T>
    JsonWriter& member(std::string_view name, const T& content) {
        key(name);
        return value(content);
    }

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::string& text() { return text_; }

  private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void separate();

    std::string text_;
    bool fresh_ = true; // no value has been written in this object or array
};

} // namespace assay
