#pragma once

#include "tier/budget.hpp"
#include "tier/lifted.hpp"

#include <array>
#include <cstddef>

namespace assay::tier::preload {

/// Descriptors that are the pager's: closed, they would leave what is on storage to be zeros.
class OwnDescriptors {
  public:
    /// Those that are opened meanwhile.
    template <class Open>
    void add_opened(Open open) {
        from_ = lifted_from();
        const Flags before = open_now();
        open();
        own_ = open_now();
        for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = own_[i] && !before[i];
    }
    /// Those that it has at any time.
    void add_of(const Budget& budget) { budget_ = &budget; }

    [[nodiscard]] bool owns(int fd) const {
        if (fd < from_ || fd >= from_ + lifted_room) return false;
        return own_[static_cast<std::size_t>(fd - from_)] || (budget_ != nullptr && budget_->owns(fd));
    }
    /// The first of them, or -1.
    [[nodiscard]] int between(unsigned first, unsigned last) const;

  private:
    /// Of each descriptor among which the pager's are.
    using Flags = std::array<bool, lifted_room>;

    [[nodiscard]] Flags open_now() const;

    int from_ = 0;
    Flags own_{};
    const Budget* budget_ = nullptr;
};

} // namespace assay::tier::preload
