// build: -O2 -fopenmp
#include "kernels/deflate/codec/chains.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/plain.hpp"
#include "kernels/deflate/codec/scratch.hpp"
#include "kernels/deflate/codec/text.hpp"
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"

namespace assay::kernels {

namespace {

/// Return an upper bound of the compressed size: literals of the fixed code take at most nine bits, and each
/// block and stream has a header and an end.
std::size_t room_for(std::size_t bytes) {
    constexpr std::size_t line = 64;
    return (bytes + bytes / 8 + 256) / line * line + line;
}

/// Guard bytes beyond the output.
constexpr std::size_t guard = 64;
constexpr Byte poison_byte = 0xa5;

/// Number of bytes after which chunks repeat. Only this many bytes are compressed in advance, and inflated
/// for the check.
constexpr std::size_t different_bytes = std::size_t{4} << 20U;

/// Flip random bits of each stream, and truncates every third stream.
void damage(Chunk& chunk, Byte* stream, std::size_t number, std::size_t bits) {
    for (std::size_t i = 0; i < bits; ++i) {
        const std::uint64_t bit = mixed(number * 1009 + i) % (8 * chunk.bytes);
        stream[bit / 8] = static_cast<Byte>(stream[bit / 8] ^ 1U << bit % 8);
    }
    if (number % 3 == 2) chunk.bytes = mixed(number) % chunk.bytes;
}

/// Kind of blocks in the streams to inflate.
enum Blocks : std::int64_t { stored_blocks = 0, fixed_blocks = 1, dynamic_blocks = 2 };

std::size_t compress_as(const Chunk& chunk, Blocks blocks, Scratch& scratch) {
    auto* const memory = reinterpret_cast<unsigned char*>(&scratch);
    if (blocks == fixed_blocks) return compress<Chains<16, 32>, Code::fixed>(chunk, memory);
    if (blocks == dynamic_blocks) return compress<Chains<16, 32>, Code::best>(chunk, memory);
    BitWriter out(chunk.to, chunk.room);
    return write_stored(out, chunk.from, chunk.bytes, true) ? out.finish() : failed;
}

const About about_deflate = {
    "deflate",
    "Compression and inflation of text (raw deflate, RFC 1951), chunk by chunk",
    "article on Intel ISA-L's compression compared with zlib's, by input and output buffers; it gives no "
    "figures",
    "instructions of one core: searches and unpredictable branches",
};

class Deflate final : public KernelOf<Chunks> {
  public:
    [[nodiscard]] const About& about() const override { return about_deflate; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        return {{"n", "bytes of text", 0, 0, most},
                {"chunk", "bytes of text in one stream", 65536, 1, std::int64_t{1} << 30},
                {"direction", "0: text is compressed; 1: streams are inflated", compressing, compressing,
                 inflating},
                {"blocks", "blocks of the streams to inflate, 0: stored, 1: fixed codes, 2: dynamic codes",
                 dynamic_blocks, stored_blocks, dynamic_blocks},
                {"damage", "bits flipped in each stream to inflate", 0, 0, 1000}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const auto& [n, chunk] : {std::pair{0, 1},
                                       {1, 65536},
                                       {7, 3},
                                       {97, 97},
                                       {4099, 1000},
                                       {80000, 80000},
                                       {150001, 150001}}) {
            found.push_back({{"n", n}, {"chunk", chunk}, {"direction", compressing}});
            for (const std::int64_t blocks : {0, 1, 2})
                found.push_back({{"n", n}, {"chunk", chunk}, {"direction", inflating}, {"blocks", blocks}});
        }
        for (const std::int64_t bits : {1, 3, 40})
            for (const std::int64_t blocks : {0, 1, 2})
                found.push_back({{"n", 100000},
                                 {"chunk", 500},
                                 {"direction", inflating},
                                 {"blocks", blocks},
                                 {"damage", bits}});
        found.push_back({{"n", 99999}, {"chunk", 9000}, {"direction", inflating}, {"damage", 2}});
        // More chunks than there are different ones; the last one is shorter.
        found.push_back({{"n", 4300000}, {"direction", inflating}, {"damage", 3}});
        return found;
    }

    /// Choose the largest text that leaves room for streams that are an eighth longer.
    void fit(Values& values, std::int64_t bytes) const override {
        constexpr std::int64_t ends = 512;
        std::int64_t& n = values["n"];
        n = std::max((bytes - ends) / 17 * 8, std::int64_t{0});
        while (n > 0 && this->bytes(values) > static_cast<double>(bytes)) n -= n / 64 + 1;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return static_cast<double>(values.at("n")) +
               static_cast<double>(count_of(values) * room_for(chunk_of(values)));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const std::size_t length = chunk_of(values), count = count_of(values);
        const auto direction = static_cast<Direction>(values.at("direction"));
        const std::size_t room = room_for(length);
        text_ = Buffer<Byte>(n + (direction == inflating ? guard : 0), shift);
        streams_ = Buffer<Byte>(count * room + (direction == compressing ? guard : 0), shift);
        scratch_ = Buffer<Scratch>(static_cast<std::size_t>(threads()));
        std::memset(scratch_.data(), 0, scratch_.size() * sizeof(Scratch));
        different_ = (different_bytes + length - 1) / length;
        fill_text(n, different_ * length);
        chunks_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            chunks_[i] = {text_.data() + i * length, std::min(length, n - i * length),
                          streams_.data() + i * room, room, failed};
        const auto bits = static_cast<std::size_t>(values.at("damage"));
        work_ = {
            chunks_.data(), count, direction, bits != 0, reinterpret_cast<unsigned char*>(scratch_.data()),
            sizeof(Scratch)};
        if (direction == inflating) turn_round(static_cast<Blocks>(values.at("blocks")), bits);
    }

    void poison() override {
        std::ranges::fill(output(), poison_byte);
        for (Chunk& chunk : chunks_) chunk.made = failed;
    }

    [[nodiscard]] Verdict check() override {
        for (std::size_t i = output().size() - guard; i < output().size(); ++i)
            if (output()[i] != poison_byte) return wrong_at("what lies beyond the output", i);
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            const char* const wrong = work_.direction == compressing ? wrong_stream(i) : wrong_text(i);
            if (wrong)
                return {false, std::numeric_limits<double>::max(),
                        "chunk " + std::to_string(i) + " " + wrong};
        }
        return {true, 0.0, ""};
    }

    [[nodiscard]] std::vector<Figure> figures() const override {
        double text = 0.0, streams = 0.0;
        for (const Chunk& chunk : chunks_) {
            const bool out = work_.direction == compressing;
            text += static_cast<double>(out ? chunk.bytes : chunk.room);
            streams += static_cast<double>(out ? chunk.made : chunk.bytes);
        }
        return {{"ratio", "compressed size relative to the text", text > 0.0 ? streams / text : 1.0}};
    }

  private:
    static std::size_t chunk_of(const Values& values) {
        const std::int64_t n = std::max(values.at("n"), std::int64_t{1});
        return static_cast<std::size_t>(std::min(values.at("chunk"), n));
    }

    /// Return the number of chunks. An empty text is one chunk.
    static std::size_t count_of(const Values& values) {
        const auto n = static_cast<std::size_t>(values.at("n"));
        return std::max((n + chunk_of(values) - 1) / chunk_of(values), std::size_t{1});
    }

    [[nodiscard]] const Buffer<Byte>& output() const {
        return work_.direction == compressing ? streams_ : text_;
    }

    /// \param period number of bytes after which the text repeats.
    void fill_text(std::size_t n, std::size_t period) {
        const std::string made = make_text();
        for (std::size_t i = 0, run = 0; i < n; i += run) {
            const std::size_t place = i % period;
            run = std::min({made.size() - place % made.size(), period - place, n - i});
            std::memcpy(text_.data() + i, made.data() + place % made.size(), run);
        }
    }

    /// Compress text into the streams that variants inflate.
    void turn_round(Blocks blocks, std::size_t bits) {
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            Chunk& chunk = chunks_[i];
            auto* const text = const_cast<Byte*>(chunk.from);
            const std::size_t bytes = chunk.bytes;
            Byte* const stream = chunk.to;
            const std::size_t like = i % different_;
            if (like < i && bytes == chunks_[like].room) {
                chunk.bytes = chunks_[like].bytes;
                std::memcpy(stream, chunks_[like].from, chunk.bytes);
            } else {
                chunk.bytes = compress_as(chunk, blocks, scratch_[0]);
                // Not a shorter last chunk, since its compressed form is unknown.
                if (bits && i < different_) damage(chunk, stream, i, bits);
            }
            chunk = {stream, chunk.bytes, text, bytes, failed};
        }
        wanted_ = Buffer<Byte>(std::min(different_, chunks_.size()) * chunks_[0].room);
        wanted_made_.clear();
        for (std::size_t i = 0; i < std::min(different_, chunks_.size()); ++i) {
            Chunk chunk = chunks_[i];
            chunk.to = wanted_.data() + i * chunks_[0].room;
            wanted_made_.push_back(inflate_plain(chunk, nullptr));
        }
    }

    [[nodiscard]] const char* wrong_stream(std::size_t i) const {
        const Chunk& chunk = chunks_[i];
        if (chunk.made == 0 || chunk.made > chunk.room) return "did not become a stream";
        const Chunk& like = chunks_[i % different_];
        const bool known = i >= different_ && chunk.bytes == like.bytes && chunk.made == like.made;
        if (known && std::memcmp(chunk.to, like.to, chunk.made) == 0) return nullptr;
        std::vector<Byte> text(chunk.bytes + 1);
        const auto inflated = [&](std::size_t bytes) {
            return inflate_plain({chunk.to, bytes, text.data(), chunk.bytes, failed}, nullptr);
        };
        if (inflated(chunk.made - 1) != failed) return "has more bytes than its stream";
        if (inflated(chunk.made) != chunk.bytes ||
            (chunk.bytes && std::memcmp(text.data(), chunk.from, chunk.bytes) != 0))
            return "does not inflate to its text";
        return nullptr;
    }

    [[nodiscard]] const char* wrong_text(std::size_t i) const {
        const Chunk& chunk = chunks_[i];
        const std::size_t like = i % different_;
        // The last chunk may be shorter than the chunk whose text it repeats.
        const bool whole = chunk.room == chunks_[like].room;
        const std::size_t bytes = whole ? wanted_made_[like] : chunk.room;
        if (chunk.made != bytes)
            return bytes == failed ? "is invalid, but was accepted" : "has another length";
        if (bytes == failed || bytes == 0) return nullptr;
        return std::memcmp(chunk.to, wanted_.data() + like * chunks_[0].room, bytes) ? "is not the text"
                                                                                     : nullptr;
    }

    /// Count the bytes of the text in both directions, since compressors differ in the size of their streams.
    [[nodiscard]] Cost default_cost() const override {
        double text = 0.0;
        for (const Chunk& chunk : chunks_)
            text += static_cast<double>(work_.direction == compressing ? chunk.bytes : chunk.room);
        return {.bytes = text, .bytes_with_allocate = work_.direction == compressing ? text : 2.0 * text};
    }

    Buffer<Byte> text_, streams_, wanted_;
    Buffer<Scratch> scratch_;
    std::vector<Chunk> chunks_;
    std::vector<std::size_t> wanted_made_;
    std::size_t different_ = 1;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Deflate kernel;
    return assay::kernels::program(kernel, argc, argv);
}
