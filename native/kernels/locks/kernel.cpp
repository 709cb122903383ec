#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/locks/section.hpp"

#include <algorithm>

namespace assay::kernels {

namespace {

const About about_locks = {
    "locks",
    "Table with look-ups and changes by threads behind a lock",
    "Intel's article on the locks of a database: 22 % by lock elision, between two generations of processors",
    "transfer of a cache line between cores",
    true,
};

class Locks final : public KernelOf<Lookups> {
  public:
    [[nodiscard]] const About& about() const override { return about_locks; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"entries", "entries of the table, a line each", 0, 1, std::int64_t{1} << 32},
                {"n", "sections, over all threads", 100'000, 0, std::int64_t{1} << 40},
                {"writes", "percentage of sections that change their entries", 5, 0, 100},
                {"length", "entries of a section", 1, 1, 1 << 10}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 1001})
            for (const std::int64_t writes : {0, 50, 100})
                found.push_back({{"entries", 3}, {"n", n}, {"writes", writes}});
        found.push_back({{"entries", 1}, {"n", 999}, {"writes", 10}, {"length", 5}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["entries"] = std::max<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(Entry)), 1);
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return static_cast<double>(sizeof(Entry)) * static_cast<double>(values.at("entries"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto entries = static_cast<std::size_t>(values.at("entries"));
        table_ = Buffer<Entry>(entries, shift);
        room_ = Buffer<unsigned char>(room_bytes);
        work_ = {table_.data(),
                 entries,
                 room_.data(),
                 &torn_,
                 &seen_,
                 static_cast<std::size_t>(values.at("n")),
                 static_cast<unsigned>(values.at("writes")),
                 static_cast<std::size_t>(values.at("length"))};
    }

    void restore() override {
        std::ranges::fill(table_, Entry{});
        std::ranges::fill(room_, static_cast<unsigned char>(0));
    }

    void poison() override { torn_ = seen_ = -1; }

    /// Check all entries: the changes of sections do not depend on the order of execution.
    [[nodiscard]] Verdict check() override {
        std::vector<std::int64_t> wanted(work_.entries);
        std::int64_t reads = 0;
        for (std::size_t k = 0; k < work_.n; ++k) {
            const Section one = section(work_, k);
            for (std::size_t i = 0; i < work_.length; ++i)
                wanted[(one.first + i) % work_.entries] += one.writes;
            if (!one.writes) reads += static_cast<std::int64_t>(work_.length);
        }
        Comparison counts(0.0, 0.0);
        counts.compare("torn", 0, static_cast<double>(torn_), 0.0L);
        counts.compare("seen", 0, static_cast<double>(seen_), static_cast<long double>(reads));
        for (std::size_t i = 0; i < work_.entries; ++i) {
            counts.compare("first", i, static_cast<double>(table_[i].first),
                           static_cast<long double>(wanted[i]));
            counts.compare("second", i, static_cast<double>(table_[i].second),
                           static_cast<long double>(wanted[i]));
        }
        return counts.verdict(2 * work_.entries + 2);
    }

  private:
    /// Count a cache line for each entry. The cache lines of locks are not counted, since variants differ in
    /// them.
    [[nodiscard]] Cost default_cost() const override {
        const double bytes = static_cast<double>(sizeof(Entry)) * static_cast<double>(work_.n) *
                             static_cast<double>(work_.length);
        return {.bytes = bytes, .bytes_with_allocate = bytes};
    }

    Buffer<Entry> table_;
    Buffer<unsigned char> room_;
    std::int64_t torn_ = 0;
    std::int64_t seen_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Locks kernel;
    return assay::kernels::program(kernel, argc, argv);
}
