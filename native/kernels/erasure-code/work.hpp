#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

constexpr std::size_t sources = 9, targets = 3, coefficients = sources * targets;

/// Nine disks of data and three of parities (9+3): the others can be computed from any nine of the twelve.
///
/// Each target is the sum over all sources multiplied by coefficients, byte by byte in the field of 2^8
/// elements with x^8 + x^4 + x^3 + x^2 + 1 (0x11d). Parities are computed and three lost disks rebuilt in the
/// same way, with different coefficients.
struct Code {
    const unsigned char* source[sources];
    unsigned char* target[targets];
    std::size_t n;  ///< Number of bytes of each source and target.
    bool streaming; ///< True if the output does not fit the caches in use: it need not go through them.
    /// The other members are computed from the coefficients, target by target, before the measurement.
    const unsigned char* coefficient;
    const unsigned char* logarithm; ///< Logarithm to base 2 of each byte except 0.
    const unsigned char* power;     ///< Powers of 2, for exponents to 509.
    const unsigned char (*product)[256];
    const unsigned char (*nibbles)[32]; ///< Products of 0 to 15, and of 16 times these.
    const std::uint64_t* matrix;        ///< Matrices of gf2p8affineqb.
    unsigned char* isal;                ///< Tables of ISA-L's ec_init_tables(); null without the library.
};

} // namespace assay::kernels
