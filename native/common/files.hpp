#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// Read a small file (procfs, sysfs, cgroupfs) below the folder `at`. On failure, or if it is larger than
/// `limit`, return nothing and set errno.
std::optional<std::string> read_file(int at, const char* path, std::size_t limit = 16U << 20);

/// Return the number at the beginning of a small file.
std::optional<std::int64_t> read_number(const std::string& path);

/// Read an open file from offset 0, which gives current contents in cgroupfs and procfs.
std::optional<std::string_view> reread(int fd, char* buffer, std::size_t size);

/// Write to an existing file. Return 0 or the errno.
int write_file(int at, const char* path, std::string_view text);

/// Write the whole text, continuing after partial writes. Return 0 or the errno.
int write_all(int fd, std::string_view text);

/// Read up to end of file. On failure return nothing and set errno (EFBIG above `limit`).
std::optional<std::string> read_to_end(int fd, std::size_t limit);

/// Return the number after `key` at the beginning of a line: "key 12", "key: 12 kB", "key=12".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

/// Return the rest of the line that begins with `key`, without separators.
std::optional<std::string_view> line_after(std::string_view text, std::string_view key);

} // namespace assay
