// A concordance (every word of a text with the words around it), built from many small objects.
//
// The threads stand in a ring. Each builds the concordance of a passage and hands it to the next
// one, which reads it and frees it: nearly every object is freed by another thread than the one
// that allocated it. There allocators differ most.

#include "../common.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <forward_list>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "allocations";
constexpr std::size_t passage_bytes = 32 * 1024;
constexpr std::size_t context_bytes = 24; // kept on each side of a word
// Passages that a thread builds ahead of those it reads: enough that a neighbour which loses its
// CPU for a moment stops nobody, few enough that memory stays small.
constexpr std::size_t lead = 4;

struct Options {
    unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    unsigned rounds = 200;
    fs::path input = "/usr/share/common-licenses";
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string_view flag = argv[i];
        if (flag == "--help") {
            std::puts("usage: allocations [--threads N] [--rounds N] [--input FILE-OR-FOLDER]");
            std::exit(0);
        }
        if (flag != "--threads" && flag != "--rounds" && flag != "--input")
            examples::refuse(program_name, flag, "unknown flag; see --help");
        if (i + 1 == argc) examples::refuse(program_name, flag, "needs a value");
        if (flag == "--threads")
            options.threads = examples::number(program_name, flag, argv[i + 1], 1U, 1024U);
        else if (flag == "--rounds")
            options.rounds = examples::number(program_name, flag, argv[i + 1], 1U, 1'000'000U);
        else
            options.input = argv[i + 1];
    }
    return options;
}

// The file, or the regular files of the folder in the order of their names (links would repeat).
std::string read_text(const fs::path& input) {
    std::vector<fs::path> files;
    if (fs::is_directory(input)) {
        for (const auto& entry : fs::directory_iterator(input))
            if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
        std::sort(files.begin(), files.end());
    } else {
        files.push_back(input);
    }
    std::string text;
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        if (!stream || fs::is_directory(file)) examples::refuse(program_name, file.string(), "unreadable");
        text.append(std::istreambuf_iterator<char>(stream), {});
        text.push_back('\n');
    }
    return text;
}

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Cuts between words, so that the passages together hold each word once.
std::vector<std::string_view> passages(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        std::size_t end = std::min(passage_bytes, text.size());
        while (end < text.size() && is_letter(text[end])) ++end;
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return parts;
}

template <typename Visit>
void each_word(std::string_view text, Visit visit) {
    for (std::size_t i = 0; i < text.size();) {
        if (!is_letter(text[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < text.size() && is_letter(text[end])) ++end;
        visit(i, end - i);
        i = end;
    }
}

std::string_view context(std::string_view text, std::size_t at, std::size_t length) {
    const std::size_t from = at - std::min(at, context_bytes);
    return text.substr(from, at - from + length + context_bytes);
}

// Sums that depend on neither order nor threads, so that every way of counting gives the same.
struct Totals {
    std::uint64_t words = 0;
    std::uint64_t letters = 0;
    std::uint64_t sum = 0;

    void add(std::size_t length, std::string_view around) {
        ++words;
        letters += length;
        for (const char c : around) sum += static_cast<unsigned char>(c);
    }
    void add(const Totals& other) {
        words += other.words;
        letters += other.letters;
        sum += other.sum;
    }
    bool operator==(const Totals&) const = default;
};

using Concordance = std::unordered_map<std::string, std::forward_list<std::string>>;

std::unique_ptr<Concordance> build(std::string_view text) {
    auto concordance = std::make_unique<Concordance>();
    std::string word;
    each_word(text, [&](std::size_t at, std::size_t length) {
        word.assign(text.substr(at, length));
        for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        (*concordance)[word].emplace_front(context(text, at, length));
    });
    return concordance;
}

Totals read(const Concordance& concordance) {
    Totals totals;
    for (const auto& [word, places] : concordance)
        for (const auto& around : places) totals.add(word.size(), around);
    return totals;
}

// Where a thread finds what its neighbour has built; closed when the neighbour builds no more.
class Mailbox {
  public:
    void put(std::unique_ptr<Concordance> item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push_back(std::move(item));
        }
        changed_.notify_one();
    }
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_one();
    }
    // The next item, waited for; none once the box is closed and empty.
    std::unique_ptr<Concordance> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
        if (items_.empty()) return nullptr;
        auto item = std::move(items_.front());
        items_.pop_front();
        return item;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Concordance>> items_;
    bool closed_ = false;
};

Totals run(const std::vector<std::string_view>& parts, const Options& options) {
    const std::size_t jobs = parts.size() * options.rounds;
    std::vector<Mailbox> boxes(options.threads);
    std::vector<Totals> totals(options.threads);

    const auto work = [&](unsigned self) {
        Mailbox& mine = boxes[self];
        Mailbox& neighbour = boxes[(self + 1) % options.threads];
        Totals sums;
        std::size_t built = 0;
        for (std::size_t job = self; job < jobs; job += options.threads) {
            neighbour.put(build(parts[job % parts.size()]));
            if (++built <= lead) continue;
            if (const auto item = mine.take()) sums.add(read(*item));
        }
        neighbour.close();
        while (const auto item = mine.take()) sums.add(read(*item));
        totals[self] = sums;
    };
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < options.threads; ++i) others.emplace_back(work, i);
        work(0);
    }
    Totals all;
    for (const auto& sums : totals) all.add(sums);
    return all;
}

// The same sums straight from the text, without a concordance or a thread.
Totals expected(const std::vector<std::string_view>& parts, unsigned rounds) {
    Totals once;
    for (const auto part : parts)
        each_word(part,
                  [&](std::size_t at, std::size_t length) { once.add(length, context(part, at, length)); });
    return {once.words * rounds, once.letters * rounds, once.sum * rounds};
}

} // namespace

int main(int argc, char** argv) try {
    const Options options = parse(argc, argv);
    const std::string text = read_text(options.input);
    const auto parts = passages(text);

    const auto start = std::chrono::steady_clock::now();
    const Totals totals = run(parts, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

    if (totals.words == 0) examples::refuse(program_name, options.input.string(), "holds no words");
    std::printf("words=%llu\n", static_cast<unsigned long long>(totals.words));
    std::printf("sum=%llu\n", static_cast<unsigned long long>(totals.sum));
    std::printf("words_per_s=%.0f\n", static_cast<double>(totals.words) / took.count());
    if (totals != expected(parts, options.rounds)) {
        std::fprintf(stderr, "%s: the concordance does not hold the words of the text\n", program_name);
        return 1;
    }
    std::puts("check=ok");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program_name, error.what());
    return 2;
}
