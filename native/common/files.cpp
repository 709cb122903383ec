#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>

#include <charconv>

namespace assay {

std::optional<std::string> read_to_end(int fd, std::size_t limit) {
    std::string text;
    std::size_t used = 0;
    text.resize(4096);
    for (;;) {
        if (used == text.size()) {
            if (used > limit) {
                errno = EFBIG;
                return std::nullopt;
            }
            text.resize(used * 2);
        }
        const ssize_t n = ::read(fd, text.data() + used, text.size() - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::nullopt;
        if (n == 0) break;
        used += static_cast<std::size_t>(n);
    }
    if (used > limit) {
        errno = EFBIG;
        return std::nullopt;
    }
    text.resize(used);
    return text;
}

std::optional<std::string> read_file(int at, const char* path, std::size_t limit) {
    const Fd fd{::openat(at, path, O_RDONLY | O_CLOEXEC)};
    if (!fd) return std::nullopt;
    return read_to_end(fd.get(), limit);
}

std::optional<std::int64_t> read_number(const std::string& path) {
    const auto text = read_file(AT_FDCWD, path.c_str());
    std::int64_t value = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{})
        return std::nullopt;
    return value;
}

std::optional<std::string_view> reread(int fd, char* buffer, std::size_t size) {
    const ssize_t n = ::pread(fd, buffer, size, 0);
    if (n < 0) return std::nullopt;
    return std::string_view{buffer, static_cast<std::size_t>(n)};
}

int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

int write_file(int at, const char* path, std::string_view text) {
    const Fd fd{::openat(at, path, O_WRONLY | O_CLOEXEC)};
    if (!fd) return errno;
    return write_all(fd.get(), text);
}

std::optional<std::string_view> line_after(std::string_view text, std::string_view key) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) end = text.size();
        std::string_view line = text.substr(at, end - at);
        if (line.starts_with(key)) {
            line.remove_prefix(key.size());
            const std::size_t value = line.find_first_not_of(" \t:=");
            // A separator must follow the key, so that "anon" does not match "anon_thp".
            if (value != 0 && value != std::string_view::npos) return line.substr(value);
        }
        at = end + 1;
    }
    return std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
    const auto rest = line_after(text, key);
    if (!rest) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest->data(), rest->data() + rest->size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

} // namespace assay
