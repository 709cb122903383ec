#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

constexpr std::size_t disks = 10;

/// Ten disks of data and two of parities (10+2).
///
/// Each disk contains `stripes` strips, one after another. The horizontal parity of a stripe is the XOR of
/// its ten strips. Stripes of a group, as many as there are disks, make a square: the vertical parity of a
/// disk is the XOR of its strips of the group, so each parity occupies one disk. In a rebuild, one disk is
/// lost, and one strip of another disk in each group. That strip is rebuilt from its column, and then the
/// disk from the rows.
struct Parity {
    unsigned char* data[disks];
    unsigned char* horizontal; ///< A strip for each stripe.
    unsigned char* vertical;   ///< A strip for each disk in each group; a last group may have fewer stripes.
    std::size_t strip;         ///< Bytes.
    std::size_t stripes;
    bool rebuild;
    bool streaming; ///< True if the output does not fit the caches in use: it need not go through them.
};

/// Losses of a rebuild: a whole disk, and the middle strip of each group of another one.
constexpr std::size_t lost_disk = 3, damaged_disk = 6;

} // namespace assay::kernels
