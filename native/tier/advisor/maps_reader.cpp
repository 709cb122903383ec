#include "tier/advisor/maps_reader.hpp"

#include "tier/advisor/granule_table.hpp"

#include <fcntl.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace assay::tier {

namespace {

/// Maximum size of a mapping. Larger ones exceed memory and swap, so they are mostly empty, and scanning them
/// would take long.
std::uint64_t max_bytes() {
    struct sysinfo host = {};
    if (::sysinfo(&host) != 0) return std::uint64_t{1} << 40U;
    return 2 * host.mem_unit * (std::uint64_t{host.totalram} + host.totalswap);
}

} // namespace

MapsReader::MapsReader(std::size_t min)
    : min_(min), max_(max_bytes()), file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "/proc/self/maps");
}

void MapsReader::read(Table<AddressRange>& found) {
    found.fill(0);
    if (::lseek(file_.get(), 0, SEEK_SET) != 0) return;
    std::size_t held = 0;
    for (;;) {
        const ssize_t more = ::read(file_.get(), text_.data() + held, text_.size() - held);
        if (more <= 0) return;
        std::string_view rest(text_.data(), held + static_cast<std::size_t>(more));
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            take(rest.substr(0, end), found);
            rest.remove_prefix(end + 1);
        }
        // A line longer than the buffer contains a path; such mappings are not anonymous.
        held = rest.size() == text_.size() ? 0 : rest.size();
        std::memmove(text_.data(), rest.data(), held);
    }
}

/// Format: `FROM-TO rw-p OFFSET DEVICE INODE [NAME]`
void MapsReader::take(std::string_view line, Table<AddressRange>& found) const {
    AddressRange span;
    const auto number = [&line](std::uint64_t& value) {
        const char* const last = line.data() + line.size();
        const auto [end, error] = std::from_chars(line.data(), last, value, 16);
        if (error != std::errc() || end == last) return false;
        line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
        return true;
    };
    if (!number(span.from) || !number(span.to) || !line.starts_with("rw-p ")) return;
    for (int field = 0; field < 3; ++field) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    const bool anonymous = line == "0" || line.starts_with("0 ");
    const std::uint64_t bytes = span.to - span.from;
    if (!anonymous || line.ends_with("[stack]") || bytes < min_ || bytes > max_) return;
    if (span.to / Granule::bytes < GranuleTable::end && !found.full()) found.add(span);
}

} // namespace assay::tier
