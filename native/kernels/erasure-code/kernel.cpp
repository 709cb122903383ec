#include "kernels/erasure-code/isal.hpp"
#include "kernels/erasure-code/work.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"

#include <algorithm>
#include <array>
#include <climits>

namespace assay::kernels {

namespace {

constexpr std::size_t disks = sources + targets;
/// Lost disks of a rebuild: all three contain data, which is the most work.
constexpr std::array<std::size_t, targets> lost = {1, 4, 8};

/// Multiply and reduce bit by bit, by the definition of the field, independently of the variants' tables.
Byte product(unsigned a, unsigned b) {
    constexpr unsigned reduction = 0x11d;
    unsigned found = 0;
    for (; b; b >>= 1U) {
        if (b & 1U) found ^= a;
        a <<= 1U;
        if (a & 0x100U) a ^= reduction;
    }
    return static_cast<Byte>(found);
}

/// Return the inverse: a^254, since the multiplicative group has 255 elements.
Byte inverse(Byte a) {
    Byte found = 1;
    for (int i = 0; i < 254; ++i) found = product(found, a);
    return found;
}

using Rows = std::array<std::array<Byte, sources>, targets>;

/// Return Cauchy's matrix, 1 / (x + y) with all x and y different: each of its square submatrices is
/// invertible.
Rows parities() {
    Rows found;
    for (std::size_t t = 0; t < targets; ++t)
        for (std::size_t s = 0; s < sources; ++s) found[t][s] = inverse(static_cast<Byte>((sources + t) ^ s));
    return found;
}

/// Return the coefficients that compute the lost disks from the remaining ones, in which parities take the
/// places of lost disks: solve the equations of the parities (Gauss-Jordan elimination).
Rows rebuilding() {
    Rows rows = parities();
    std::array<std::array<Byte, targets>, targets> square;
    for (std::size_t t = 0; t < targets; ++t) {
        for (std::size_t k = 0; k < targets; ++k) {
            square[t][k] = rows[t][lost[k]];
            rows[t][lost[k]] = t == k ? 1 : 0;
        }
    }
    for (std::size_t k = 0; k < targets; ++k) {
        // Each leading submatrix of Cauchy's matrix is invertible, so no pivot is 0.
        const Byte scale = inverse(square[k][k]);
        for (Byte& one : square[k]) one = product(one, scale);
        for (Byte& one : rows[k]) one = product(one, scale);
        for (std::size_t t = 0; t < targets; ++t) {
            const Byte times = t == k ? Byte{0} : square[t][k];
            for (std::size_t i = 0; i < targets; ++i) square[t][i] ^= product(square[k][i], times);
            for (std::size_t i = 0; i < sources; ++i) rows[t][i] ^= product(rows[k][i], times);
        }
    }
    return rows;
}

/// Return the matrix of a coefficient. Bit i of a product is the parity of (x AND byte 7 - i of the matrix)
/// (Intel SDM, GF2P8AFFINEQB).
std::uint64_t matrix_of(Byte coefficient) {
    std::uint64_t found = 0;
    for (unsigned column = 0; column < 8; ++column) {
        const std::uint64_t bits = product(coefficient, 1U << column);
        for (unsigned i = 0; i < 8; ++i) found |= (bits >> i & 1U) << ((7 - i) * 8 + column);
    }
    return found;
}

const About about_code = {
    "erasure-code",
    "Reed-Solomon code of nine disks and three parities (9+3), and the rebuild of three lost disks",
    "Tencent's ultra-cold storage before XOR parities (10+2): even with Intel ISA-L a heavy workload for its "
    "old servers; the article gives no figure",
    "units for shuffles or GFNI within the caches, memory bandwidth beyond",
};

class ErasureCode final : public KernelOf<Code> {
  public:
    [[nodiscard]] const About& about() const override { return about_code; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "bytes of a disk", 0, 0, INT_MAX},
                {"rebuild", "1: rebuilds three lost disks; 0: computes parities", 0, 0, 1},
                {"streaming", "1: the output goes past the caches even if it would fit", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t rebuild : {0, 1})
            for (const auto& [n, streaming] :
                 {std::pair{0, 0}, {1, 0}, {7, 1}, {64, 0}, {97, 0}, {4099, 0}, {16411, 1}})
                found.push_back({{"n", n}, {"rebuild", rebuild}, {"streaming", streaming}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["n"] = std::min(bytes / static_cast<std::int64_t>(disks), std::int64_t{INT_MAX});
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return static_cast<double>(disks) * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const Rows code = parities();
        for (std::size_t s = 0; s < sources; ++s) pattern_[s] = pattern_of(s);
        for (std::size_t t = 0; t < targets; ++t) {
            Pattern& parity = pattern_[sources + t];
            for (std::size_t i = 0; i < period; ++i) {
                parity[i] = 0;
                for (std::size_t s = 0; s < sources; ++s) parity[i] ^= product(pattern_[s][i], code[t][s]);
            }
        }
        for (std::size_t d = 0; d < disks; ++d) {
            disk_[d] = Buffer<Byte>(n, shift);
            fill(disk_[d], pattern_[d]);
        }
        rebuild_ = values.at("rebuild") != 0;
        work_ = {};
        work_.n = n;
        for (std::size_t s = 0; s < sources; ++s) work_.source[s] = disk_[s].data();
        for (std::size_t t = 0; t < targets; ++t) {
            work_.target[t] = disk_[written(t)].data();
            if (rebuild_) work_.source[lost[t]] = disk_[sources + t].data();
        }
        work_.streaming =
            values.at("streaming") != 0 || bytes(values) > static_cast<double>(find_caches(INT_MAX).last);
        make_tables(rebuild_ ? rebuilding() : code);
    }

    void poison() override {
        constexpr Byte poison = 0xa5;
        for (std::size_t t = 0; t < targets; ++t) std::ranges::fill(disk_[written(t)], poison);
    }

    /// Check all bytes, including those of the sources, which no variant may change.
    [[nodiscard]] Verdict check() override {
        for (std::size_t d = 0; d < disks; ++d)
            if (Verdict found = same("disk " + std::to_string(d), disk_[d], pattern_[d]); !found.right)
                return found;
        return {true, 0.0, ""};
    }

  private:
    [[nodiscard]] std::size_t written(std::size_t t) const { return rebuild_ ? lost[t] : sources + t; }

    void make_tables(const Rows& rows) {
        Byte power = 1;
        for (std::size_t i = 0; i < powers_.size(); ++i) {
            powers_[i] = power;
            if (i < 255) logarithms_[power] = static_cast<Byte>(i);
            power = product(power, 2);
        }
        for (std::size_t k = 0; k < coefficients; ++k) {
            const Byte one = coefficients_[k] = rows[k / sources][k % sources];
            for (unsigned x = 0; x < 256; ++x) products_[k][x] = product(one, x);
            for (unsigned x = 0; x < 16; ++x) {
                nibbles_[k][x] = products_[k][x];
                nibbles_[k][16 + x] = products_[k][16 * x];
            }
            matrices_[k] = matrix_of(one);
        }
        work_.coefficient = coefficients_.data();
        work_.logarithm = logarithms_.data();
        work_.power = powers_.data();
        work_.product = products_;
        work_.nibbles = nibbles_;
        work_.matrix = matrices_.data();
        work_.isal = isal_tables(coefficients_.data(), isal_.data()) ? isal_.data() : nullptr;
    }

    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n);
        return {.bytes = (sources + targets) * n, .bytes_with_allocate = (sources + 2 * targets) * n};
    }

    std::array<Buffer<Byte>, disks> disk_;
    std::array<Pattern, disks> pattern_{};
    bool rebuild_ = false;
    std::array<Byte, coefficients> coefficients_{};
    std::array<Byte, 256> logarithms_{};
    std::array<Byte, 510> powers_{};
    Byte products_[coefficients][256] = {};
    Byte nibbles_[coefficients][32] = {};
    std::array<std::uint64_t, coefficients> matrices_{};
    std::array<Byte, 32 * coefficients> isal_{};
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::ErasureCode kernel;
    return assay::kernels::program(kernel, argc, argv);
}
