#pragma once

#include "common/fd.hpp"
#include "tier/base/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::tier {

/// Addresses from one to another.
struct AddressRange {
    std::uint64_t from = 0, to = 0;
};

/// The large memory of this process, however it was allocated: what is private, anonymous, readable and
/// writable, as proc_pid_maps(5) has it.
class MapsReader {
  public:
    /// \param least bytes of what is large.
    /// \throws std::system_error where there is no /proc.
    explicit MapsReader(std::size_t min);

    /// Those that there are now, by address.
    ///
    /// \param found as many as it has room for.
    void read(Table<AddressRange>& found);

  private:
    void take(std::string_view line, Table<AddressRange>& found) const;

    std::uint64_t min_, max_;
    Fd file_;
    std::array<char, std::size_t{16} << 10U> text_{};
};

} // namespace assay::tier
