/// Stress test of the pager. Threads read and write a region with few frames: at random, in streams, and by
/// system calls. They verify each word that they read.
///
///     assay-tier-fuzz --path DIR [--frames N] [--chunks N] [--chunk BYTES] [--part BYTES]
///                     [--least BYTES] [--threads N] [--ms N] [--seed N] [--disk uring|threads] [--pageout 1]
///                     [--trace DIR] [--replay DIR]
///                     [--exchange copy] [--numa follow|local|interleave] [--root DIR, of recorded nodes]
///
/// Prints one line of JSON: the operations, and the number of wrong words. Exits with status 1 if there are
/// any.

#include "tier/pager/pager.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assay::tier;

std::uint64_t value_of(std::size_t word, std::uint32_t version) {
    if (version == 0) return 0;
    std::uint64_t x = word * 0x9e3779b97f4a7c15U + version;
    x ^= x >> 31U;
    return x * 0xbf58476d1ce4e5b9U;
}

struct Field {
    std::uint64_t* words;
    std::size_t count, per_chunk;
    std::vector<std::uint32_t> versions;
    std::vector<std::shared_mutex> chunks; ///< Shared by threads that use words of the chunk.
    std::atomic<std::uint64_t> wrong = 0, done = 0;

    Field(std::byte* at, std::size_t bytes, std::size_t chunk)
        : words(reinterpret_cast<std::uint64_t*>(at)), count(bytes / 8), per_chunk(chunk / 8),
          versions(count), chunks(bytes / chunk) {}

    void check(std::size_t word) {
        check(word, std::atomic_ref(words[word]).load(std::memory_order_relaxed));
    }
    void check(std::size_t word, std::uint64_t found) {
        if (found == value_of(word, versions[word])) return;
        if (wrong++ < 10)
            std::fprintf(stderr, "word %zu (chunk %zu): %016lx instead of version %u\n", word,
                         word / per_chunk, found, versions[word]);
    }
    void write(std::size_t word) {
        std::atomic_ref(words[word]).store(value_of(word, ++versions[word]), std::memory_order_relaxed);
    }
};

/// Thread of the test. Words are assigned to threads round-robin, so that threads share all chunks and no
/// word.
class Worker {
  public:
    Worker(Field& field, Pager& pager, std::size_t number, std::size_t threads, std::uint64_t seed)
        : field_(field), pager_(pager), number_(number), threads_(threads), random_(seed * 1000 + number) {
        if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
    }

    void work(std::chrono::steady_clock::time_point until) {
        while (std::chrono::steady_clock::now() < until) {
            switch (random_() % 16) {
            case 0:
            case 1:
                run(1);
                break;
            case 2:
                run(-1);
                break;
            case 3:
                run(static_cast<std::ptrdiff_t>(2 + random_() % 7));
                break;
            case 4:
                by_system_calls();
                break;
            case 5:
                discard();
                break;
            default:
                singly();
            }
            ++field_.done;
        }
    }

  private:
    std::size_t own(std::size_t word) const { return word - word % threads_ + number_; }

    void use(std::size_t word, bool write) {
        const std::shared_lock lock(field_.chunks[word / field_.per_chunk]);
        field_.check(word);
        if (write) field_.write(word);
    }

    void singly() {
        for (int i = 0; i < 8; ++i) {
            const std::size_t word = own(random_() % field_.count);
            if (word < field_.count) use(word, random_() % 2 == 0);
        }
    }

    /// Access a few words of each chunk along a stride.
    void run(std::ptrdiff_t stride) {
        const auto chunks = static_cast<std::ptrdiff_t>(field_.chunks.size());
        auto chunk = static_cast<std::ptrdiff_t>(random_() % field_.chunks.size());
        const bool write = random_() % 3 == 0;
        for (int i = 0; i < 24; ++i, chunk += stride) {
            const auto at = static_cast<std::size_t>((chunk % chunks + chunks) % chunks) * field_.per_chunk;
            for (std::size_t j = 0; j < 4; ++j) {
                const std::size_t word = own(at + j * (field_.per_chunk / 4) + random_() % 64);
                if (word < field_.count && word / field_.per_chunk == at / field_.per_chunk) use(word, write);
            }
        }
    }

    /// Let the kernel read some words and write others.
    void by_system_calls() {
        if (threads_ > 1) return one_word_by_system_calls();
        const std::size_t words = 1024, at = random_() % (field_.count - words);
        std::vector<std::uint64_t> copy(words);
        if (::write(pipe_[1], field_.words + at, words * 8) != static_cast<ssize_t>(words * 8)) std::abort();
        if (::read(pipe_[0], copy.data(), words * 8) != static_cast<ssize_t>(words * 8)) std::abort();
        for (std::size_t i = 0; i < words; ++i) field_.check(at + i, copy[i]);
        for (std::size_t i = 0; i < words; ++i) copy[i] = value_of(at + i, ++field_.versions[at + i]);
        if (::write(pipe_[1], copy.data(), words * 8) != static_cast<ssize_t>(words * 8)) std::abort();
        if (::read(pipe_[0], field_.words + at, words * 8) != static_cast<ssize_t>(words * 8)) std::abort();
    }

    void one_word_by_system_calls() {
        const std::size_t word = own(random_() % field_.count);
        if (word >= field_.count) return;
        const std::shared_lock lock(field_.chunks[word / field_.per_chunk]);
        std::uint64_t copy = 0;
        if (::write(pipe_[1], field_.words + word, 8) != 8 || ::read(pipe_[0], &copy, 8) != 8) std::abort();
        field_.check(word, copy);
        copy = value_of(word, ++field_.versions[word]);
        if (::write(pipe_[1], &copy, 8) != 8 || ::read(pipe_[0], field_.words + word, 8) != 8) std::abort();
    }

    void discard() {
        const std::size_t chunk = random_() % field_.chunks.size();
        const std::unique_lock lock(field_.chunks[chunk]);
        const std::size_t first = chunk * field_.per_chunk;
        if (pager_.discard(reinterpret_cast<std::byte*>(field_.words + first)) == 0) return;
        std::fill_n(field_.versions.begin() + static_cast<std::ptrdiff_t>(first), field_.per_chunk, 0U);
        if (random_() % 2 == 0) prefetch();
    }

    void prefetch() {
        const std::size_t from = random_() % field_.count;
        const std::size_t left = field_.per_chunk - from % field_.per_chunk;
        const PagerEngine::ByteRange range{reinterpret_cast<std::byte*>(field_.words + from),
                                           8 * (1 + random_() % left)};
        pager_.prefetch({&range, 1});
    }

    Field& field_;
    Pager& pager_;
    std::size_t number_, threads_;
    std::mt19937_64 random_;
    int pipe_[2] = {-1, -1};
};

/// Page out all large memory of the process, a few pieces at a time, wherever it is at present.
void page_out(const std::stop_token& over) {
    std::minstd_rand random(1);
    while (!over.stop_requested()) {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            unsigned long from = 0, to = 0;
            char rights[5] = {};
            if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) != 3) continue;
            if (std::string(rights) != "rw-p" || to - from < (std::size_t{1} << 20)) continue;
            const std::size_t at = from + random() % ((to - from) / page) * page;
            const std::size_t bytes = std::min(to - at, std::size_t{4} << 20);
            sys::advise(reinterpret_cast<void*>(at), bytes, MADV_PAGEOUT); // NOLINT: the kernel gives numbers
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int fuzz(std::map<std::string, std::string> options) {
    const auto number = [&options](const char* name, unsigned long usual) {
        return options.contains(name) ? std::stoul(options[name]) : usual;
    };
    const std::size_t chunk = number("chunk", std::size_t{2} << 20), chunks = number("chunks", 40);
    const std::size_t threads = number("threads", 2);
    PagerConfig config{.paths = {options["path"]},
                       .memory_bytes = number("frames", 10) * chunk,
                       .chunk_bytes = chunk,
                       .part_bytes = number("part", std::size_t{64} << 10),
                       .min_bytes = number("least", page),
                       .trace_folder = options["trace"],
                       .replay_folder = options["replay"]};
    if (options["exchange"] == "copy") config.map_method = MapMethod::copy;
    if (options.contains("numa")) config.numa = parse_numa_policy(options["numa"]);
    config.root = options["root"];
    if (options["disk"] == "threads")
        config.disk = [](const Store& store, unsigned depth) { return threads_disk(store, depth, 4); };
    Pager pager(config);
    const std::size_t bytes = chunks * chunk;
    std::byte* const all = sys::map(bytes + chunk);
    std::byte* const at = aligned(all, chunk);
    Region* const region = pager.add(at, bytes);
    if (region == nullptr) {
        std::perror("region");
        return 2;
    }
    Field field(at, bytes, chunk);
    std::jthread swapper;
    if (number("pageout", 0) != 0) swapper = std::jthread(page_out);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(number("ms", 2000));
    std::vector<std::thread> team;
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t i = 0; i < threads; ++i)
        workers.push_back(std::make_unique<Worker>(field, pager, i, threads, number("seed", 1)));
    for (auto& worker : workers) team.emplace_back([&worker, until] { worker->work(until); });
    for (auto& one : team) one.join();
    for (std::size_t word = 0; word < field.count; ++word) field.check(word);
    const Counts counts = pager.counts();
    pager.remove(*region);
    sys::unmap(all, bytes + chunk);
    std::printf(
        "{\"wrong\":%lu,\"done\":%lu,\"zero_fill_faults\":%lu,\"demand_faults\":%lu,\"in_flight_faults\":%lu,"
        "\"prefetch_hits\":%lu,\"second_chance_hits\":%lu,"
        "\"unused_prefetches\":%lu,\"clean_evictions\":%lu,\"read_bytes\":%lu,\"written_bytes\":%lu}\n",
        field.wrong.load(), field.done.load(), counts.zero_fill_faults, counts.demand_faults,
        counts.in_flight_faults, counts.prefetch_hits, counts.second_chance_hits, counts.unused_prefetches,
        counts.clean_evictions, counts.read_bytes, counts.written_bytes);
    return field.wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[std::string(argv[i]).substr(2)] = argv[i + 1];
    try {
        return fuzz(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
