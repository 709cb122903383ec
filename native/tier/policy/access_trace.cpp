#include "tier/policy/access_trace.hpp"

#include "common/fd.hpp"
#include "tier/base/file_size.hpp"
#include "tier/base/messages.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

namespace assay::tier {

namespace {

constexpr std::size_t segment_bytes = std::size_t{1} << 20, max_bytes = std::size_t{1} << 30;

/// Header of a trace file.
struct Header {
    char magic[8];
    std::uint64_t sizes[ChunkSizes::max]; ///< Sizes of chunks; 0 for unused levels.
    char program[32];
};
static_assert(sizeof(Header) == 64);
constexpr char magic[8] = {'a', 's', 's', 'a', 'y', 't', 'r', '1'};

/// Bit fields of a word: kind, level, region, number.
enum class Kind : std::uint64_t { none, access, region, mapped };
constexpr unsigned kind_at = 62, level_at = 60, region_at = 40;
constexpr std::uint64_t max_level = 3, max_region = (1U << 20U) - 1, max_number = (1ULL << region_at) - 1;

Kind kind_of(std::uint64_t word) {
    return static_cast<Kind>(word >> kind_at);
}

std::uint64_t word_of(Kind kind, std::uint64_t rest) {
    return static_cast<std::uint64_t>(kind) << kind_at | rest;
}

Header header_of(const ChunkSizes& sizes) {
    Header head{};
    std::memcpy(head.magic, magic, sizeof magic);
    for (std::size_t i = 0; i < sizes.size(); ++i) head.sizes[i] = sizes[i];
    std::strncpy(head.program, program_invocation_short_name, sizeof head.program - 1);
    return head;
}

std::string mismatch(const Header& found, const Header& wanted) {
    if (std::memcmp(found.magic, wanted.magic, sizeof magic) != 0) return "not an access trace";
    if (!std::equal(std::begin(found.sizes), std::end(found.sizes), std::begin(wanted.sizes)))
        return "recorded with other chunk sizes";
    if (std::strncmp(found.program, wanted.program, sizeof found.program) != 0)
        return std::string("recorded by the program ") +
               std::string(found.program, ::strnlen(found.program, sizeof found.program));
    return {};
}

} // namespace

std::string trace_path(const std::string& folder, std::size_t number) {
    return folder + "/" + std::to_string(number) + ".touches";
}

AccessTrace::AccessTrace(const std::string& path, const ChunkSizes& sizes) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!file || ::fstat(file.get(), &about) != 0) throw std::runtime_error(std::strerror(errno));
    const auto length = static_cast<std::size_t>(about.st_size);
    if (!S_ISREG(about.st_mode) || length < sizeof(Header)) throw std::runtime_error("not an access trace");
    // Read the file instead of mapping it: another process may truncate it, and a mapping would then raise
    // SIGBUS.
    bytes_ = whole_pages(length);
    file_ = sys::map(bytes_);
    if (file_ == nullptr) throw std::bad_alloc();
    std::size_t read = 0;
    for (ssize_t some = 1; read < length && some > 0;
         read += static_cast<std::size_t>(std::max(some, ssize_t{0})))
        some = ::read(file.get(), file_ + read, length - read);
    const std::string why =
        read < sizeof(Header) ? "unreadable" : mismatch(*reinterpret_cast<Header*>(file_), header_of(sizes));
    if (!why.empty()) {
        sys::unmap(file_, bytes_);
        throw std::runtime_error(why);
    }
    words_ = reinterpret_cast<const std::uint64_t*>(file_ + sizeof(Header));
    count_ = (read - sizeof(Header)) / sizeof(std::uint64_t);
    while (count_ > 0 && words_[count_ - 1] == 0) --count_;
    levels_ = sizes.size();
}

AccessTrace::~AccessTrace() {
    sys::unmap(file_, bytes_);
}

std::optional<Access> AccessTrace::access(std::size_t i) const {
    const std::uint64_t word = words_[i];
    if (kind_of(word) != Kind::access || (word >> level_at & max_level) >= levels_) return std::nullopt;
    return Access{static_cast<std::uint32_t>(word >> region_at & max_region),
                  static_cast<std::uint32_t>(word >> level_at & max_level), word & max_number};
}

std::optional<std::uint64_t> AccessTrace::region(std::size_t i) const {
    if (kind_of(words_[i]) != Kind::region) return std::nullopt;
    return words_[i] & max_number;
}

std::optional<std::size_t> AccessTrace::mapped(std::size_t i) const {
    if (kind_of(words_[i]) != Kind::mapped) return std::nullopt;
    return words_[i] & max_number;
}

TraceRecorder::TraceRecorder(std::string path, const ChunkSizes& sizes) : path_(std::move(path)) {
    const Fd file(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file || !grow()) throw std::system_error(errno, std::generic_category(), path_);
    const Header head = header_of(sizes);
    std::memcpy(segment_, &head, sizeof head);
    segment_used_ = sizeof head;
}

TraceRecorder::~TraceRecorder() {
    if (segment_ != nullptr) sys::unmap(segment_, segment_bytes);
}

void TraceRecorder::region_added(std::uint64_t chunks) {
    add(word_of(Kind::region, std::min(chunks, max_number)));
}

void TraceRecorder::set_mapped_limit(std::size_t bytes) {
    mapped_limit_ = bytes;
    add(word_of(Kind::mapped, std::min<std::uint64_t>(bytes, max_number)));
    second_chance_hits_ = 0;
    hits_since_ = now_ns();
}

void TraceRecorder::on_second_chance_hit() {
    constexpr unsigned many = 4096;
    constexpr Nanos soon = 400'000'000;
    if (++second_chance_hits_ < many) return;
    if (now_ns() - hits_since_ < soon) return set_mapped_limit(2 * mapped_limit_);
    second_chance_hits_ = 0;
    hits_since_ = now_ns();
}

void TraceRecorder::on_access(const Access& access) {
    if (access.region > max_region || access.number > max_number) return;
    const std::uint64_t word =
        word_of(Kind::access, std::uint64_t{access.level} << level_at |
                                  std::uint64_t{access.region} << region_at | access.number);
    if (std::ranges::find(recent_, word) != recent_.end()) return;
    recent_[recent_next_] = word;
    recent_next_ = (recent_next_ + 1) % recent_.size();
    add(word);
}

void TraceRecorder::add(std::uint64_t word) {
    if (full_) return;
    if (segment_used_ == segment_bytes && !grow()) {
        full_ = true;
        print_message(
            {"recording of accesses has ended in ", path_, ": ",
             segment_offset_ >= max_bytes ? "a trace has at most 1 GiB" : ::strerrorname_np(errno)});
        return;
    }
    std::memcpy(segment_ + segment_used_, &word, sizeof word);
    segment_used_ += sizeof word;
}

/// Map the next segment. No descriptor is kept, because the program may close unknown ones.
bool TraceRecorder::grow() {
    if (segment_ != nullptr) {
        sys::unmap(segment_, segment_bytes);
        segment_ = nullptr;
        segment_offset_ += segment_bytes;
    }
    if (segment_offset_ >= max_bytes) {
        errno = EFBIG;
        return false;
    }
    const Fd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    // Allocated now, so that a full disk is reported here instead of raising SIGBUS later.
    if (!file || !is_size_allowed(segment_offset_ + segment_bytes)) return false;
    if (const int error = ::posix_fallocate(file.get(), static_cast<off_t>(segment_offset_), segment_bytes);
        error != 0) {
        errno = error;
        return false;
    }
    segment_ = sys::map_file(file.get(), segment_bytes, segment_offset_);
    segment_used_ = 0;
    return segment_ != nullptr;
}

} // namespace assay::tier
