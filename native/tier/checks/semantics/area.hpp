#pragma once

#include "tier/base/sys.hpp"

#include <cstddef>

namespace assay::tier::semantics {

inline constexpr std::byte written{0x77};  ///< What memory holds at first.
inline constexpr std::byte answered{0x5a}; ///< What a fault is answered with.

/// Memory between borders that nobody may touch, so that the kernel joins it with nothing beside it.
///
/// It is to be made before the Userfault that watches it: unmapping may wait until somebody reads of it.
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
    /// Pages that are there, and those that come: populating it now would be a fault that nobody answers.
    void lock() const;

  private:
    std::size_t bytes_, reserved_;
    std::byte* all_;
    std::byte* at_ = nullptr;
};

std::byte byte_at(const std::byte* at);
void write_byte(std::byte* at);

} // namespace assay::tier::semantics
