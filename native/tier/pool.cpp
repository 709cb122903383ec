#include "tier/pool.hpp"

namespace assay::tier {

Pool::Pool(Exchange exchange, std::size_t chunk, std::size_t part, std::size_t most, Budget* budget)
    : budget_(budget), ratio_(chunk / part), most_bytes_(most * chunk), chunks_(exchange, chunk, most),
      parts_(exchange, part, ratio_ == 1 ? 0 : most * ratio_) {
    if (ratio_ > 1) static_cast<void>(parts_.shed(most * ratio_));
    if (budget_ != nullptr) static_cast<void>(chunks_.shed(most));
}

std::byte* Pool::take(std::size_t bytes, bool& zero) {
    const bool whole = bytes == chunk();
    Frames& wanted = of(bytes);
    if (wanted.left() == 0) more(whole);
    return wanted.take(zero);
}

/// What the other kind does not use; or what the others do not.
void Pool::more(bool whole) {
    const bool lent = ratio_ > 1 && (whole ? parts_.shed(ratio_) : chunks_.shed(1));
    if (!lent && (budget_ == nullptr || !budget_->take(chunk()))) return;
    if (whole)
        chunks_.grow(1);
    else
        parts_.grow(ratio_);
}

bool Pool::give_back() {
    if (!chunks_.shed(1) && (ratio_ == 1 || !parts_.shed(ratio_))) return false;
    budget_->give(chunk());
    return true;
}

} // namespace assay::tier
