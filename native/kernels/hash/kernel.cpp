#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/hash/lanes.hpp"

#include <algorithm>
#include <array>

namespace assay::kernels {

namespace {

/// Messages repeat after so many, so that as many digests have to be known.
constexpr std::size_t different = 31;

const About about_hash = {
    "hash",
    "Digests of many messages (MD5, SHA-1, SHA-256, SHA-512)",
    "Intel ISA-L multi-buffer hashing sample: 981.7 MB/s at 42 % of a consumer's time with one producer",
    "units for integers of one core",
};

class Hash final : public KernelOf<Hashing> {
  public:
    [[nodiscard]] const About& about() const override { return about_hash; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"messages", "whose digests are wanted", 0, 0, std::int64_t{1} << 30},
                {"length", "bytes of a message", 0, 0, std::int64_t{1} << 30},
                {"function", "5: MD5, 1: SHA-1, 256: SHA-256, 512: SHA-512", 256, 1, 512}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t function : {1, 5, 256, 512})
            for (const auto& [messages, length] : {std::pair{0, 64},
                                                   {1, 0},
                                                   {1, 3},
                                                   {7, 55},
                                                   {17, 56},
                                                   {33, 111},
                                                   {33, 112},
                                                   {16, 128},
                                                   {40, 1000}})
                found.push_back({{"messages", messages}, {"length", length}, {"function", function}});
        return found;
    }

    /// Messages of a page; shorter ones where fewer than fill the lanes of two vectors would fit.
    void fit(Values& values, std::int64_t bytes) const override {
        constexpr std::int64_t page = 4096, few = 32;
        std::int64_t& length = values["length"];
        if (length == 0) length = std::min(page, bytes / few);
        std::int64_t& messages = values["messages"];
        if (messages == 0) messages = bytes / std::max(length, std::int64_t{1});
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return static_cast<double>(values.at("messages")) *
               static_cast<double>(values.at("length") + std::int64_t{digest_place});
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto messages = static_cast<std::size_t>(values.at("messages"));
        const auto length = static_cast<std::size_t>(values.at("length"));
        const std::int64_t function = values.at("function");
        if (function != 1 && function != 5 && function != 256 && function != 512)
            throw BadWords("--function needs 1, 5, 256 or 512");
        data_ = Buffer<Byte>(messages * length, shift);
        digests_ = Buffer<Byte>(messages * digest_place);
        for (std::size_t m = 0; m < messages; ++m)
            for (std::size_t i = 0; i < length; ++i)
                data_[m * length + i] = static_cast<Byte>(mixed(m % different + i * different));
        work_ = {data_.data(), digests_.data(), messages, length, static_cast<Function>(function)};
        // One word at a time, as FIPS 180-4 and RFC 1321 have it; that libraries agree is what tests it.
        Hashing known = work_;
        known.digests = wanted_[0].data();
        known.messages = std::min(messages, different);
        all<std::uint32_t, std::uint64_t>(known);
    }

    void poison() override { std::ranges::fill(digests_, Byte{0xa5}); }

    [[nodiscard]] Verdict check() override {
        for (std::size_t m = 0; m < work_.messages; ++m)
            if (std::memcmp(&digests_[m * digest_place], wanted_[m % different].data(), digest_bytes()) != 0)
                return {false, std::numeric_limits<double>::max(),
                        "the digest of message " + std::to_string(m) + " is wrong"};
        return {true, 0.0, ""};
    }

  private:
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

    /// Messages are read; digests are small beside them.
    [[nodiscard]] Cost usual_cost() const override {
        const double read = static_cast<double>(work_.messages) * static_cast<double>(work_.length);
        const double written = static_cast<double>(work_.messages * digest_bytes());
        return {.bytes = read + written, .bytes_with_allocate = read + 2.0 * written};
    }

    Buffer<Byte> data_, digests_;
    std::array<std::array<Byte, digest_place>, different> wanted_{};
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Hash kernel;
    return assay::kernels::program(kernel, argc, argv);
}
