#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/traversal/work.hpp"

#include <algorithm>

namespace assay::kernels {

namespace {

/// Return a word. All words are different, and a word that is missing or read twice changes the sum (the
/// mixing function of SplitMix64: G. Steele et al., Fast splittable pseudorandom number generators, 2014).
std::uint64_t datum(std::size_t i) {
    std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

const About about_traversal = {
    "traversal",
    "Sum of all words of an array, in several orders",
    "access orders of the evaluation of Intel Memory Drive Technology, and those that are critical for page "
    "caches and swap",
    "the memory level that holds the words, and its prefetchers",
};

class Traversal final : public KernelOf<Words> {
  public:
    [[nodiscard]] const About& about() const override { return about_traversal; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "words of 8 bytes", 0, 0, std::int64_t{1} << 40},
                {"update", "1: sets the lowest bit of each word and writes all", 0, 0, 1}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 513, 9216, 9217, 300'007})
            for (const std::int64_t update : {0, 1}) found.push_back({{"n", n}, {"update", update}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override { values["n"] = bytes / 8; }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 8.0 * static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        data_ = Buffer<std::uint64_t>(static_cast<std::size_t>(values.at("n")), shift);
        work_ = {data_.data(), data_.size(), values.at("update") == 1, &sum_};
        fill();
    }

    void poison() override {
        sum_ = ~std::uint64_t{0};
        if (work_.update) fill();
    }

    [[nodiscard]] Verdict check() override {
        std::uint64_t sum = 0;
        std::size_t wrong = 0;
        const std::uint64_t set = work_.update ? 1 : 0;
        for (std::size_t i = 0; i < work_.count; ++i) {
            sum += datum(i) | set;
            wrong += data_[i] != (datum(i) | set);
        }
        Comparison exact(0.0, 0.0);
        exact.compare("number of wrong words", 0, static_cast<double>(wrong), 0.0L);
        // Both halves are compared, since a double cannot represent all bits.
        exact.compare("sum", 0, static_cast<double>(sum_ >> 32U), static_cast<long double>(sum >> 32U));
        exact.compare("sum", 1, static_cast<double>(sum_ & UINT32_MAX),
                      static_cast<long double>(sum & UINT32_MAX));
        return exact.verdict(3);
    }

  private:
    void fill() {
        for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = datum(i);
    }

    [[nodiscard]] Cost default_cost() const override {
        const double bytes = 8.0 * static_cast<double>(work_.count) * (work_.update ? 2.0 : 1.0);
        return {.bytes = bytes, .bytes_with_allocate = bytes};
    }

    Buffer<std::uint64_t> data_;
    std::uint64_t sum_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Traversal kernel;
    return assay::kernels::program(kernel, argc, argv);
}
