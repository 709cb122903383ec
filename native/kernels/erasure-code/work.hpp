#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

constexpr std::size_t sources = 9, targets = 3, coefficients = sources * targets;

/// Nine disks and three more for parities (9+3): any nine of the twelve give the others.
///
/// Each target is a sum over the sources, each times a coefficient, byte by byte in the field of 2^8 elements
/// with x^8 + x^4 + x^3 + x^2 + 1 (0x11d). To make parities and to rebuild three lost disks is the same work
/// with other coefficients.
struct Code {
    const unsigned char* source[sources];
    unsigned char* target[targets];
    std::size_t n;  ///< Bytes of each.
    bool streaming; ///< True if the output does not fit the caches in use: it need not go through them.
    /// The other members follow from the coefficients, target by target, before the measurement.
    const unsigned char* coefficient;
    const unsigned char* logarithm; ///< Logarithm to base 2 of each byte except 0.
    const unsigned char* power;     ///< Powers of 2, for exponents to 509.
    const unsigned char (*product)[256];
    const unsigned char (*nibbles)[32]; ///< Products of 0 to 15, and of 16 times these.
    const std::uint64_t* matrix;        ///< Matrices of gf2p8affineqb.
    unsigned char* isal;                ///< Tables of ISA-L's ec_init_tables(); null without the library.
};

} // namespace assay::kernels
