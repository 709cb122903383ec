#include "tier/pool.hpp"

namespace assay::tier {

Pool::Pool(Exchange exchange, std::size_t chunk, std::size_t part, std::size_t most)
    : ratio_(chunk / part), most_bytes_(most * chunk), chunks_(exchange, chunk, most),
      parts_(exchange, part, ratio_ == 1 ? 0 : most * ratio_) {
    if (ratio_ > 1) static_cast<void>(parts_.shed(most * ratio_));
}

std::byte* Pool::take(std::size_t bytes, bool& zero) {
    const bool whole = bytes == chunk();
    Frames& wanted = of(bytes);
    if (wanted.left() == 0 && ratio_ > 1) {
        if (whole && parts_.shed(ratio_)) chunks_.grow(1);
        if (!whole && chunks_.shed(1)) parts_.grow(ratio_);
    }
    return wanted.take(zero);
}

} // namespace assay::tier
