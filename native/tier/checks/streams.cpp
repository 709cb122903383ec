/// Detect streams in a sequence of chunks.
///
///     assay-tier-streams COUNT MEMORY MOST
///
/// The MEMORY most recent of COUNT chunks are mapped, and a window has at most MOST chunks. Input words: a
/// chunk, or THREAD:CHUNK; `used` and `wasted` report the outcome of a prefetch. For each fault it prints one
/// line of JSON: the stream, or null.

#include "tier/policy/stream_detector.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iostream>
#include <string>

namespace {

using assay::tier::StreamDetector;

void show(const StreamDetector::Stream* stream) {
    if (stream == nullptr) return void(std::puts("null"));
    std::printf("{\"last\":%lld,\"stride\":%lld,\"window\":%u,\"first\":%lld,\"repeats\":%s}\n",
                static_cast<long long>(stream->last), static_cast<long long>(stream->stride), stream->window,
                static_cast<long long>(stream->first), stream->is_repeating ? "true" : "false");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: assay-tier-streams COUNT MEMORY MOST\n", stderr);
        return 2;
    }
    const std::int64_t count = std::stoll(argv[1]);
    const auto memory = std::stoul(argv[2]), max = std::stoul(argv[3]);
    StreamDetector streams;
    std::deque<std::int64_t> there; // Most recent chunks, the latest at the end.
    const auto mapped = [&there](std::int64_t chunk) {
        return std::ranges::find(there, chunk) != there.end();
    };
    for (std::string word; std::cin >> word;) {
        if (word == "used") {
            streams.on_used();
        } else if (word == "wasted") {
            streams.on_unused();
        } else {
            const std::size_t colon = word.find(':');
            const bool has_thread = colon != std::string::npos;
            const auto thread =
                static_cast<std::uint32_t>(has_thread ? std::stoul(word.substr(0, colon)) : 0);
            const std::int64_t chunk = std::stoll(has_thread ? word.substr(colon + 1) : word);
            if (mapped(chunk)) continue;
            show(streams.follow(chunk, count, thread, static_cast<std::uint32_t>(max), mapped));
            there.push_back(chunk);
            if (there.size() > memory) there.pop_front();
        }
    }
    return 0;
}
