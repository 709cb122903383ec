#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/hash/messages.hpp"

#include <algorithm>

namespace assay::kernels {

namespace {

const About about_hash = {
    "hash",
    "Digests of many messages (MD5, SHA-1, SHA-256, SHA-512)",
    "Intel ISA-L multi-buffer hashing: many messages at once, each in a lane of vectors",
    "integer units of one core",
};

class Hash final : public KernelOf<Hashing> {
  public:
    [[nodiscard]] const About& about() const override { return about_hash; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"messages", "number of messages", 0, 0, std::int64_t{1} << 30},
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

    /// Choose messages of a page, or shorter ones if fewer messages would fit than fill the lanes of two
    /// vectors.
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
        messages_ = Messages(messages, length, values.at("function"), shift);
        work_ = messages_.work();
    }

    void poison() override { messages_.poison(); }

    [[nodiscard]] Verdict check() override { return messages_.check(); }

  private:
    [[nodiscard]] Cost default_cost() const override { return messages_.cost(); }

    Messages messages_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Hash kernel;
    return assay::kernels::program(kernel, argc, argv);
}
