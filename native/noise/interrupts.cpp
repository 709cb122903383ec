#include "noise/interrupts.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace assay::noise {

namespace {

constexpr std::size_t initial_table_bytes = 64U << 10; // grows at the first reading
constexpr std::size_t max_name_length = 48;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view next_word(std::string_view& text) {
    text = trimmed(text);
    const auto end = text.find_first_of(" \t");
    const auto word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    return word;
}

/// Return the column of a CPU, or -1. The columns are those of the online CPUs.
int column_of(std::string_view header, int cpu) {
    const std::string name = "CPU" + std::to_string(cpu);
    for (int column = 0;; ++column) {
        const auto word = next_word(header);
        if (word.empty()) return -1;
        if (word == name) return column;
    }
}

/// Shorten "24: 1 2 PCI-MSI 4096-edge virtio1" to "24 virtio1", and "LOC: 1 2 Local timer interrupts" to "LOC
/// Local timer interrupts".
std::string source_name(std::string_view source, std::string_view rest) {
    std::string_view description = trimmed(rest);
    const bool numbered = !source.empty() && source[0] >= '0' && source[0] <= '9';
    if (numbered) description = description.substr(description.find_last_of(" \t") + 1);
    std::string name{source};
    if (!description.empty()) name.append(" ").append(description.substr(0, max_name_length));
    return name;
}

} // namespace

Interrupts::Interrupts(int cpu) : cpu_(cpu), buffer_(initial_table_bytes) {
    hard_.file = Fd{::open("/proc/interrupts", O_RDONLY | O_CLOEXEC)};
    soft_.file = Fd{::open("/proc/softirqs", O_RDONLY | O_CLOEXEC)};
    soft_.prefix = "softirq ";
}

Interrupts::Increments Interrupts::read() {
    Increments increments;
    read_table(hard_, increments);
    read_table(soft_, increments);
    if (first_read_) increments.clear();
    first_read_ = false;
    return increments;
}

std::optional<std::string_view> Interrupts::read_file_at(int file) {
    std::size_t used = 0;
    for (;;) {
        if (used == buffer_.size()) buffer_.resize(2 * buffer_.size());
        // The kernel returns complete rows, at most one page per call (fs/seq_file.c).
        const ssize_t got =
            ::pread(file, buffer_.data() + used, buffer_.size() - used, static_cast<off_t>(used));
        if (got < 0 && errno != EINTR) return std::nullopt;
        if (got == 0) return std::string_view{buffer_.data(), used};
        if (got > 0) used += static_cast<std::size_t>(got);
    }
}

void Interrupts::read_table(Table& table, Increments& increments) {
    if (!table.file) return;
    const auto text = read_file_at(table.file.get());
    if (!text) return;
    std::string_view left = *text;
    const auto line_end = left.find('\n');
    const int column = column_of(left.substr(0, line_end), cpu_);
    if (column < 0 || line_end == std::string_view::npos) return;
    left = left.substr(line_end + 1);
    for (std::size_t row = 0; !left.empty(); ++row) {
        const auto end = left.find('\n');
        std::string_view line = left.substr(0, end);
        left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 1);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const std::string_view source = trimmed(line.substr(0, colon));
        line = line.substr(colon + 1);
        std::int64_t count = 0;
        std::string_view word;
        for (int i = 0; i <= column; ++i) word = next_word(line);
        if (std::from_chars(word.data(), word.data() + word.size(), count).ec != std::errc{}) continue;
        if (row >= table.counts.size()) table.counts.resize(row + 1);
        auto& [name, before] = table.counts[row];
        if (!name.starts_with(table.prefix + std::string(source))) {
            std::string_view rest = line; // the description of the source follows the other columns
            while (!trimmed(rest).empty() && trimmed(rest)[0] >= '0' && trimmed(rest)[0] <= '9') {
                std::string_view ahead = rest;
                const auto next = next_word(ahead);
                if (next.find_first_not_of("0123456789") != std::string_view::npos) break;
                rest = ahead;
            }
            name = table.prefix + source_name(source, rest);
            before = count;
        }
        if (count > before) increments.emplace_back(name, count - before);
        before = count;
    }
}

} // namespace assay::noise
