#include "common/json_writer.hpp"

#include <charconv>
#include <cmath>

namespace assay {

namespace {

/// Return the length of the well-formed UTF-8 sequence at the beginning (RFC 3629, table 3-7 of Unicode), or
/// 0.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    if (!continues(1)) return 0;
    if (lead < 0xE0) return 2;
    const unsigned second = byte(1);
    if (lead < 0xF0) {
        if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
        if (lead == 0xED && second >= 0xA0) return 0; // surrogate
        return continues(2) ? 3 : 0;
    }
    if (lead == 0xF0 && second < 0x90) return 0;
    if (lead == 0xF4 && second >= 0x90) return 0;
    return continues(2) && continues(3) ? 4 : 0;
}

enum class Invalid { replaced, kept };

void append_escaped(std::string& out, std::string_view text, Invalid invalid = Invalid::replaced) {
    static constexpr char hex[] = "0123456789abcdef";
    while (!text.empty()) {
        const char c = text.front();
        const auto code = static_cast<unsigned char>(c);
        std::size_t taken = 1;
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (code < 0x20 || code == 0x7F) {
            out += "\\u00";
            out += hex[code >> 4U];
            out += hex[code & 0xFU];
        } else if (const std::size_t length = utf8_length(text); length > 0) {
            out += text.substr(0, length);
            taken = length;
        } else if (invalid == Invalid::kept) {
            out += "\\udc";
            out += hex[code >> 4U];
            out += hex[code & 0xFU];
        } else {
            out += "\\ufffd";
        }
        text.remove_prefix(taken);
    }
}

} // namespace

void JsonWriter::separate() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    text_ += '"';
    append_escaped(text_, name);
    text_ += "\":";
    fresh_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    separate();
    text_ += '"';
    append_escaped(text_, text);
    text_ += '"';
    return *this;
}

JsonWriter& JsonWriter::bytes(std::string_view text) {
    separate();
    text_ += '"';
    append_escaped(text_, text, Invalid::kept);
    text_ += '"';
    return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text_.append(digits, end);
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    separate();
    if (!std::isfinite(number)) { // JSON has no other value for it
        text_ += "null";
        return *this;
    }
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text_.append(digits, end);
    return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
    separate();
    text_ += truth ? "true" : "false";
    return *this;
}

} // namespace assay
