#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The whole of a small file (procfs, sysfs, cgroupfs) below the folder `at`, or nothing with errno set.
/// Reads at most `limit` bytes.
std::optional<std::string> read_file(int at, const char* path, std::size_t limit = 16U << 20);

/// The number at the beginning of a small file.
std::optional<std::int64_t> read_number(const std::string& path);

/// What an open file holds now: files in cgroupfs and procfs give fresh contents from offset 0.
std::optional<std::string_view> reread(int fd, char* buffer, std::size_t size);

/// 0, or the errno.
int write_file(int at, const char* path, std::string_view text);

/// 0, or the errno. Goes on after partial writes.
int write_all(int fd, std::string_view text);

/// Everything up to end of file; nothing (errno set, EFBIG above `limit`) on failure.
std::optional<std::string> read_to_end(int fd, std::size_t limit);

/// The number after `key` at the beginning of a line: "key 12", "key: 12 kB", "key=12".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

/// The rest of the line that begins with `key`, separators skipped.
std::optional<std::string_view> line_after(std::string_view text, std::string_view key);

} // namespace assay
