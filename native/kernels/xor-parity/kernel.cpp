#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/xor-parity/work.hpp"

#include <algorithm>
#include <array>
#include <climits>

namespace assay::kernels {

namespace {

const About about_parity = {
    "xor-parity",
    "Horizontal and vertical XOR parity of ten disks (10+2), and the rebuild of lost strips",
    "Tencent's ultra-cold storage with Intel ISA-L: 800 MB/s with its first XOR code, 1.2 GB/s with xor_gen "
    "for each pair, 2 GB/s with an array of pointers (1.5 and 2.5 times)",
    "memory bandwidth beyond the caches, load ports within",
};

class XorParity final : public KernelOf<Parity> {
  public:
    [[nodiscard]] const About& about() const override { return about_parity; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"strip", "bytes of a strip", 0, 0, std::int64_t{1} << 30},
                {"stripes", "stripes of ten strips each", 0, 0, std::int64_t{1} << 30},
                {"rebuild", "1: rebuilds a disk and strips of another; 0: computes parities", 0, 0, 1},
                {"streaming", "1: the output goes past the caches even if it would fit", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        const auto add = [&](std::int64_t strip, std::int64_t stripes, std::int64_t streaming) {
            for (const std::int64_t rebuild : {0, 1})
                found.push_back(
                    {{"strip", strip}, {"stripes", stripes}, {"rebuild", rebuild}, {"streaming", streaming}});
        };
        for (const auto& [strip, stripes] :
             {std::pair{0, 10}, {1, 1}, {7, 0}, {7, 11}, {192, 31}, {8209, 10}})
            add(strip, stripes, 0);
        for (const auto& [strip, stripes] : {std::pair{97, 10}, {4096, 12}, {4224, 20}})
            add(strip, stripes, 1);
        return found;
    }

    /// Choose strips of a page, as blocks of disks are, or smaller ones if no group of such strips would fit.
    void fit(Values& values, std::int64_t bytes) const override {
        constexpr std::int64_t page = 4096, line = 64, wide = disks;
        std::int64_t& strip = values["strip"];
        if (strip == 0) strip = std::min(page, bytes / (wide * (wide + 2)) / line * line);
        const std::int64_t fitting = bytes / (wide + 2) / std::max(strip, std::int64_t{1});
        std::int64_t& stripes = values["stripes"];
        if (stripes == 0) stripes = fitting < wide ? fitting : fitting / wide * wide;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        constexpr std::int64_t wide = disks;
        const std::int64_t stripes = values.at("stripes"), columns = (stripes + wide - 1) / wide * wide;
        return static_cast<double>(values.at("strip")) * static_cast<double>((wide + 1) * stripes + columns);
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto strip = static_cast<std::size_t>(values.at("strip"));
        const auto stripes = static_cast<std::size_t>(values.at("stripes"));
        across_.fill(0);
        for (std::size_t j = 0; j < disks; ++j) {
            pattern_[j] = pattern_of(j);
            for (std::size_t i = 0; i < period; ++i) across_[i] ^= pattern_[j][i];
            data_[j] = Buffer<Byte>(strip * stripes, shift);
            fill(data_[j], pattern_[j]);
        }
        horizontal_ = Buffer<Byte>(strip * stripes, shift);
        vertical_ = Buffer<Byte>((stripes + disks - 1) / disks * disks * strip, shift);
        fill(horizontal_, across_);
        work_ = {{}, horizontal_.data(), vertical_.data(), strip, stripes, values.at("rebuild") != 0, false};
        std::ranges::transform(data_, work_.data, &Buffer<Byte>::data);
        each_vertical([this](std::size_t i, Byte wanted) {
            vertical_[i] = wanted;
            return true;
        });
        work_.streaming =
            values.at("streaming") != 0 || bytes(values) > static_cast<double>(find_caches(INT_MAX).last);
    }

    void poison() override {
        constexpr Byte poison = 0xa5;
        if (!work_.rebuild) {
            std::ranges::fill(horizontal_, poison);
            std::ranges::fill(vertical_, poison);
            return;
        }
        std::ranges::fill(data_[lost_disk], poison);
        for (std::size_t first = 0; first < work_.stripes; first += disks) {
            const std::size_t damaged = first + std::min(disks, work_.stripes - first) / 2;
            std::fill_n(data_[damaged_disk].data() + damaged * work_.strip, work_.strip, poison);
        }
    }

    /// Check all bytes, including those of the data, which no variant may change.
    [[nodiscard]] Verdict check() override {
        for (std::size_t j = 0; j < disks; ++j)
            if (Verdict found = same("disk " + std::to_string(j), data_[j], pattern_[j]); !found.right)
                return found;
        if (Verdict found = same("horizontal parity", horizontal_, across_); !found.right) return found;
        Verdict found{true, 0.0, ""};
        each_vertical([&](std::size_t i, Byte wanted) {
            if (vertical_[i] != wanted) found = wrong_at("vertical parity", i);
            return found.right;
        });
        return found;
    }

  private:
    /// Visit each byte of the vertical parity and its correct value, until the visitor stops.
    template <class Visitor>
    void each_vertical(Visitor visitor) const {
        const std::size_t strip = work_.strip;
        for (std::size_t first = 0; first < work_.stripes; first += disks) {
            const std::size_t rows = std::min(disks, work_.stripes - first);
            for (std::size_t j = 0; j < disks; ++j) {
                for (std::size_t i = 0; i < strip; ++i) {
                    Byte wanted = 0;
                    for (std::size_t r = first; r < first + rows; ++r)
                        wanted ^= pattern_[j][(r * strip + i) % period];
                    if (!visitor((first + j) * strip + i, wanted)) return;
                }
            }
        }
    }

    /// Count ten strips of each stripe as read and one as written, and as many for the vertical parity. A
    /// rebuild reads ten strips of each stripe and writes one; for each group, it also reads ten strips,
    /// which rows read too, and writes one.
    [[nodiscard]] Cost default_cost() const override {
        const auto strip = static_cast<double>(work_.strip);
        const auto read = static_cast<double>(disks * work_.stripes) * strip;
        const auto groups = static_cast<double>((work_.stripes + disks - 1) / disks);
        const double row = static_cast<double>(work_.stripes) * strip;
        const double column = groups * strip * (work_.rebuild ? 1.0 : static_cast<double>(disks));
        const double written = row + column;
        return {.bytes = read + written, .bytes_with_allocate = read + 2.0 * written};
    }

    std::array<Buffer<Byte>, disks> data_;
    Buffer<Byte> horizontal_, vertical_;
    std::array<Pattern, disks> pattern_{};
    Pattern across_{};
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::XorParity kernel;
    return assay::kernels::program(kernel, argc, argv);
}
