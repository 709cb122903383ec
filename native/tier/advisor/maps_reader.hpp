#pragma once

#include "common/fd.hpp"
#include "tier/base/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::tier {

/// Range of addresses.
struct AddressRange {
    std::uint64_t from = 0, to = 0;
};

/// Reader of large mappings of this process: private, anonymous, readable and writable (proc_pid_maps(5)),
/// however they were allocated.
class MapsReader {
  public:
    /// \param min minimum size in bytes. \throws std::system_error without /proc.
    explicit MapsReader(std::size_t min);

    /// Read the present mappings in order of addresses.
    ///
    /// \param found receives as many as its capacity allows.
    void read(Table<AddressRange>& found);

  private:
    void take(std::string_view line, Table<AddressRange>& found) const;

    std::uint64_t min_, max_;
    Fd file_;
    std::array<char, std::size_t{16} << 10U> text_{};
};

} // namespace assay::tier
