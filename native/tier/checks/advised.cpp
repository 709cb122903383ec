/// Stress test of the advisor. Threads map, fill, sweep, move, discard and unmap memory, and verify each word
/// that they read.
///
///     assay-tier-advised [--dram MIB] [--threads N] [--ms N] [--seed N]
///
/// Prints one line of JSON: the operations, and the number of wrong words. Exits with status 1 if there are
/// any.

#include "tier/advisor/advisor.hpp"
#include "tier/base/sys.hpp"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace assay::tier;

constexpr std::size_t mib = std::size_t{1} << 20, in_page = page / sizeof(std::uint64_t);

struct Done {
    std::atomic<std::uint64_t> turns = 0, wrong = 0;
};

/// Memory of one thread, with a known word in each page.
class Block {
  public:
    Block(std::size_t bytes, std::uint64_t seed) : words_(map(bytes)), bytes_(bytes), seed_(seed) {
        fill(0, bytes_ / page);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { sys::unmap(words_, bytes_); }

    void fill(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) words_[i * in_page + i % in_page] = word(i);
    }
    [[nodiscard]] std::uint64_t wrong(bool downwards) const {
        const std::size_t count = bytes_ / page;
        std::uint64_t found = 0;
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t i = downwards ? count - 1 - n : n;
            if (words_[i * in_page + i % in_page] != word(i)) ++found;
        }
        return found;
    }
    void grow(std::size_t bytes) {
        void* const other = ::mremap(words_, bytes_, bytes_ + bytes, MREMAP_MAYMOVE);
        if (other == MAP_FAILED) throw std::bad_alloc();
        words_ = static_cast<std::uint64_t*>(other);
        const std::size_t before = bytes_ / page;
        bytes_ += bytes;
        fill(before, bytes_ / page);
    }
    /// Discard the content. \returns the number of non-zero words.
    std::uint64_t discard() {
        const std::size_t some = bytes_ / 2 / page;
        sys::advise(words_, some * page, MADV_DONTNEED);
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < some; ++i)
            if (words_[i * in_page + i % in_page] != 0) ++found;
        fill(0, some);
        return found;
    }
    /// Make half of it temporarily read-only, so that it consists of two mappings.
    void protect() {
        ::mprotect(words_, bytes_ / 2 / page * page, PROT_READ);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ::mprotect(words_, bytes_, PROT_READ | PROT_WRITE);
    }

  private:
    static std::uint64_t* map(std::size_t bytes) {
        std::byte* const found = sys::map(bytes);
        if (found == nullptr) throw std::bad_alloc();
        return reinterpret_cast<std::uint64_t*>(found);
    }
    [[nodiscard]] std::uint64_t word(std::size_t i) const { return (i + 1) * 0x9e3779b97f4a7c15U + seed_; }

    std::uint64_t* words_;
    std::size_t bytes_;
    std::uint64_t seed_;
};

void use(std::uint64_t seed, std::chrono::steady_clock::time_point end, Done& done) {
    std::mt19937_64 random(seed);
    while (std::chrono::steady_clock::now() < end) {
        Block block((8 + random() % 24) * mib, random());
        for (int i = 0; i < 6; ++i) {
            const std::uint64_t what = random() % 6;
            if (what == 0) block.grow((1 + random() % 8) * mib);
            if (what == 1) done.wrong += block.discard();
            if (what == 2) block.protect();
            done.wrong += block.wrong(random() % 2 == 0);
            ++done.turns;
        }
    }
}

int run(int argc, char** argv) {
    std::size_t dram = 32, threads = 3, ms = 3000, seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::size_t value = std::stoul(argv[i + 1]);
        if (name == "--dram") dram = value;
        if (name == "--threads") threads = value;
        if (name == "--ms") ms = value;
        if (name == "--seed") seed = value;
    }
    // Lives until the process ends.
    alignas(Advisor) static std::byte room[sizeof(Advisor)];
    Advisor& advisor = Advisor::start(room, {.memory_bytes = dram * mib, .min_bytes = mib});
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    Done done;
    {
        std::vector<std::jthread> all;
        for (std::size_t i = 0; i < threads; ++i)
            all.emplace_back([seed, i, end, &done] { use(seed * 1000 + i, end, done); });
    }
    const Counts counts = advisor.counts();
    std::printf("{\"turns\":%lu,\"wrong\":%lu,\"asked_bytes\":%lu,\"paged_out_bytes\":%lu}\n",
                done.turns.load(), done.wrong.load(), counts.read_bytes, counts.written_bytes);
    return done.wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "assay-tier-advised: %s\n", error.what());
        return 2;
    }
}
