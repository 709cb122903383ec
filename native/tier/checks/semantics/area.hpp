#pragma once

#include "tier/base/sys.hpp"

#include <cstddef>

namespace assay::tier::semantics {

inline constexpr std::byte written{0x77};  ///< Initial content of memory.
inline constexpr std::byte answered{0x5a}; ///< Content that resolves a fault.

/// Memory between inaccessible guard pages, so that the kernel does not merge its mapping with others.
///
/// It must be created before the Userfault that registers it: unmapping may wait for a reader of its events.
class GuardedArea {
  public:
    explicit GuardedArea(std::size_t bytes, int advice = MADV_NOHUGEPAGE);
    GuardedArea(const GuardedArea&) = delete;
    GuardedArea& operator=(const GuardedArea&) = delete;
    ~GuardedArea();

    [[nodiscard]] std::byte* at(std::size_t number = 0) const { return at_ + number * page; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    void fill() const;
    void protect(int protection) const;
    int advise(int advice) const;
    /// Lock present and future pages; populating them now would raise faults that no thread resolves.
    void lock() const;

  private:
    std::size_t bytes_, reserved_;
    std::byte* all_;
    std::byte* at_ = nullptr;
};

std::byte byte_at(const std::byte* at);
void write_byte(std::byte* at);

} // namespace assay::tier::semantics
