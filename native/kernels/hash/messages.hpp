#pragma once

#include "kernels/frame/buffer.hpp"
#include "kernels/frame/check.hpp"
#include "kernels/frame/parameters.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/hash/lanes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace assay::kernels {

/// Messages, space for their digests, and the correct digests.
class Messages {
  public:
    Messages() = default;

    /// \param number the number in the hash function's name.
    Messages(std::size_t messages, std::size_t length, std::int64_t number, std::size_t shift)
        : data_(messages * length, shift), digests_(messages * digest_place) {
        if (number != 1 && number != 5 && number != 256 && number != 512)
            throw UsageError("--function needs 1, 5, 256 or 512");
        for (std::size_t m = 0; m < messages; ++m)
            for (std::size_t i = 0; i < length; ++i)
                data_[m * length + i] = static_cast<unsigned char>(mixed(m % different + i * different));
        work_ = {data_.data(), digests_.data(), messages, length, static_cast<Function>(number)};
        // The correct digests are computed one word at a time, as in FIPS 180-4 and RFC 1321. Variants that
        // use libraries confirm them.
        Hashing known = work_;
        known.digests = wanted_[0].data();
        known.messages = std::min(messages, different);
        all<std::uint32_t, std::uint64_t>(known);
    }

    [[nodiscard]] const Hashing& work() const { return work_; }

    void poison() { std::ranges::fill(digests_, static_cast<unsigned char>(0xa5)); }

    [[nodiscard]] Verdict check() const {
        for (std::size_t m = 0; m < work_.messages; ++m)
            if (std::memcmp(&digests_[m * digest_place], wanted_[m % different].data(), digest_bytes()) != 0)
                return {false, std::numeric_limits<double>::max(),
                        "the digest of message " + std::to_string(m) + " is wrong"};
        return {true, 0.0, ""};
    }

    /// Count messages as read, and digests as written.
    [[nodiscard]] Cost cost() const {
        const double read = static_cast<double>(work_.messages) * static_cast<double>(work_.length);
        const double written = static_cast<double>(work_.messages * digest_bytes());
        return {.bytes = read + written, .bytes_with_allocate = read + 2.0 * written};
    }

  private:
    /// Number of messages after which they repeat, so that only as many correct digests are needed.
    static constexpr std::size_t different = 31;

    [[nodiscard]] std::size_t digest_bytes() const {
        switch (work_.function) {
        case Function::md5:
            return 16;
        case Function::sha1:
            return 20;
        case Function::sha256:
            return 32;
        case Function::sha512:
            break;
        }
        return 64;
    }

    Buffer<unsigned char> data_, digests_;
    Hashing work_{};
    std::array<std::array<unsigned char, digest_place>, different> wanted_{};
};

} // namespace assay::kernels
