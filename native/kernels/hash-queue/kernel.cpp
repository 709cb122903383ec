// with: hash/libraries.cpp
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/hash-queue/work.hpp"
#include "kernels/hash/messages.hpp"

#include <algorithm>

namespace assay::kernels {

namespace {

constexpr std::int64_t max_chunks = 1 << 30;

const About about_queue = {
    "hash-queue",
    "Digests of chunks from many producers to one consumer",
    "Intel ISA-L multi-buffer hashing sample: 981.7 MB/s at 42 % of a consumer's time with one producer",
    "number of waiting chunks, and integer units of one core",
};

class HashQueue final : public KernelOf<Intake> {
  public:
    [[nodiscard]] const About& about() const override { return about_queue; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "chunks, over all producers", 0, 0, max_chunks},
                {"length", "bytes of a chunk", 4096, 0, 1 << 24},
                {"producers", "producers, each of which waits for the digest of its chunk", 16, 1,
                 static_cast<std::int64_t>(max_producers)},
                {"gap", "nanoseconds in which a producer fills a chunk", 4000, 0, 1'000'000'000},
                {"function", "5: MD5, 1: SHA-1, 256: SHA-256, 512: SHA-512", 256, 1, 512}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t function : {1, 5, 256, 512})
            for (const auto& [n, producers] : {std::pair{0, 3}, {1, 16}, {7, 1}, {45, 16}, {100, 64}})
                found.push_back({{"n", n}, {"length", 55}, {"producers", producers}, {"function", function}});
        found.push_back({{"n", 50}, {"length", 1000}, {"producers", 3}, {"gap", 0}});
        return found;
    }

    /// Choose as many chunks as fit the requested bytes.
    void fit(Values& values, std::int64_t bytes) const override {
        std::int64_t& n = values["n"];
        if (n == 0)
            n = std::clamp<std::int64_t>(bytes / std::max(values["length"], std::int64_t{1}), 1, max_chunks);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return static_cast<double>(values.at("n")) *
               static_cast<double>(values.at("length") + std::int64_t{digest_place});
    }

    void prepare(const Values& values, std::size_t shift) override {
        chunks_ = Messages(static_cast<std::size_t>(values.at("n")),
                           static_cast<std::size_t>(values.at("length")), values.at("function"), shift);
        work_ = {chunks_.work(), static_cast<std::size_t>(values.at("producers")), values.at("gap"),
                 &busy_ns_, &whole_ns_};
    }

    void poison() override { chunks_.poison(); }

    [[nodiscard]] Verdict check() override { return chunks_.check(); }

    [[nodiscard]] std::vector<Figure> figures() const override {
        const double share =
            whole_ns_ > 0 ? static_cast<double>(busy_ns_) / static_cast<double>(whole_ns_) : 0.0;
        return {{"busy", "share of time in which the consumer hashes", share}};
    }

  private:
    [[nodiscard]] Cost default_cost() const override { return chunks_.cost(); }

    Messages chunks_;
    std::int64_t busy_ns_ = 0;
    std::int64_t whole_ns_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::HashQueue kernel;
    return assay::kernels::program(kernel, argc, argv);
}
