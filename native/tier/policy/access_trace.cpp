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

constexpr std::size_t part_bytes = std::size_t{1} << 20, most_bytes = std::size_t{1} << 30;

/// The first bytes of a file.
struct Head {
    char mark[8];
    std::uint64_t sizes[Sizes::most]; ///< Of chunks; 0 where there are fewer.
    char program[32];
};
static_assert(sizeof(Head) == 64);
constexpr char mark[8] = {'a', 's', 's', 'a', 'y', 't', 'r', '1'};

/// A word: what it is, the level, the region, the number.
enum class Kind : std::uint64_t { none, touch, region, mapped };
constexpr unsigned kind_at = 62, level_at = 60, region_at = 40;
constexpr std::uint64_t most_level = 3, most_region = (1U << 20U) - 1, most_number = (1ULL << region_at) - 1;

Kind kind_of(std::uint64_t word) {
    return static_cast<Kind>(word >> kind_at);
}

std::uint64_t word_of(Kind kind, std::uint64_t rest) {
    return static_cast<std::uint64_t>(kind) << kind_at | rest;
}

Head head_of(const Sizes& sizes) {
    Head head{};
    std::memcpy(head.mark, mark, sizeof mark);
    for (std::size_t i = 0; i < sizes.size(); ++i) head.sizes[i] = sizes[i];
    std::strncpy(head.program, program_invocation_short_name, sizeof head.program - 1);
    return head;
}

std::string why_other(const Head& found, const Head& wanted) {
    if (std::memcmp(found.mark, wanted.mark, sizeof mark) != 0) return "it is no trace of touches";
    if (!std::equal(std::begin(found.sizes), std::end(found.sizes), std::begin(wanted.sizes)))
        return "it was recorded with chunks of other sizes";
    if (std::strncmp(found.program, wanted.program, sizeof found.program) != 0)
        return std::string("it is of the program ") +
               std::string(found.program, ::strnlen(found.program, sizeof found.program));
    return {};
}

} // namespace

std::string trace_path(const std::string& folder, std::size_t number) {
    return folder + "/" + std::to_string(number) + ".touches";
}

Trace::Trace(const std::string& path, const Sizes& sizes) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!file || ::fstat(file.get(), &about) != 0) throw std::runtime_error(std::strerror(errno));
    const auto length = static_cast<std::size_t>(about.st_size);
    if (!S_ISREG(about.st_mode) || length < sizeof(Head))
        throw std::runtime_error("it is no trace of touches");
    // Not what others write meanwhile; and a file that is cut short while it is mapped ends in SIGBUS.
    bytes_ = whole_pages(length);
    file_ = sys::map(bytes_);
    if (file_ == nullptr) throw std::bad_alloc();
    std::size_t read = 0;
    for (ssize_t some = 1; read < length && some > 0;
         read += static_cast<std::size_t>(std::max(some, ssize_t{0})))
        some = ::read(file.get(), file_ + read, length - read);
    const std::string why = read < sizeof(Head) ? "it cannot be read"
                                                : why_other(*reinterpret_cast<Head*>(file_), head_of(sizes));
    if (!why.empty()) {
        sys::unmap(file_, bytes_);
        throw std::runtime_error(why);
    }
    words_ = reinterpret_cast<const std::uint64_t*>(file_ + sizeof(Head));
    count_ = (read - sizeof(Head)) / sizeof(std::uint64_t);
    while (count_ > 0 && words_[count_ - 1] == 0) --count_;
    levels_ = sizes.size();
}

Trace::~Trace() {
    sys::unmap(file_, bytes_);
}

std::optional<Touch> Trace::touch(std::size_t i) const {
    const std::uint64_t word = words_[i];
    if (kind_of(word) != Kind::touch || (word >> level_at & most_level) >= levels_) return std::nullopt;
    return Touch{static_cast<std::uint32_t>(word >> region_at & most_region),
                 static_cast<std::uint32_t>(word >> level_at & most_level), word & most_number};
}

std::optional<std::uint64_t> Trace::region(std::size_t i) const {
    if (kind_of(words_[i]) != Kind::region) return std::nullopt;
    return words_[i] & most_number;
}

std::optional<std::size_t> Trace::mapped(std::size_t i) const {
    if (kind_of(words_[i]) != Kind::mapped) return std::nullopt;
    return words_[i] & most_number;
}

Recorder::Recorder(std::string path, const Sizes& sizes) : path_(std::move(path)) {
    const Fd file(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file || !grow()) throw std::system_error(errno, std::generic_category(), path_);
    const Head head = head_of(sizes);
    std::memcpy(part_, &head, sizeof head);
    used_ = sizeof head;
}

Recorder::~Recorder() {
    if (part_ != nullptr) sys::unmap(part_, part_bytes);
}

void Recorder::began(std::uint64_t chunks) {
    add(word_of(Kind::region, std::min(chunks, most_number)));
}

void Recorder::map(std::size_t bytes) {
    mapped_ = bytes;
    add(word_of(Kind::mapped, std::min<std::uint64_t>(bytes, most_number)));
    again_ = 0;
    again_since_ = now_ns();
}

void Recorder::touched_again() {
    constexpr unsigned many = 4096;
    constexpr Nanos soon = 400'000'000;
    if (++again_ < many) return;
    if (now_ns() - again_since_ < soon) return map(2 * mapped_);
    again_ = 0;
    again_since_ = now_ns();
}

void Recorder::touched(const Touch& touch) {
    if (touch.region > most_region || touch.number > most_number) return;
    const std::uint64_t word =
        word_of(Kind::touch, std::uint64_t{touch.level} << level_at |
                                 std::uint64_t{touch.region} << region_at | touch.number);
    if (std::ranges::find(latest_, word) != latest_.end()) return;
    latest_[latest_at_] = word;
    latest_at_ = (latest_at_ + 1) % latest_.size();
    add(word);
}

void Recorder::add(std::uint64_t word) {
    if (over_) return;
    if (used_ == part_bytes && !grow()) {
        over_ = true;
        say({"no more touches are recorded in ", path_, ": ",
             from_ >= most_bytes ? "1 GiB of them is the most" : ::strerrorname_np(errno)});
        return;
    }
    std::memcpy(part_ + used_, &word, sizeof word);
    used_ += sizeof word;
}

/// No descriptor is kept, for the program may close those that it does not know.
bool Recorder::grow() {
    if (part_ != nullptr) {
        sys::unmap(part_, part_bytes);
        part_ = nullptr;
        from_ += part_bytes;
    }
    if (from_ >= most_bytes) {
        errno = EFBIG;
        return false;
    }
    const Fd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    // Written, so that a full disk is an error here and no SIGBUS later.
    if (!file || !may_be(from_ + part_bytes)) return false;
    if (const int error = ::posix_fallocate(file.get(), static_cast<off_t>(from_), part_bytes); error != 0) {
        errno = error;
        return false;
    }
    part_ = sys::map_file(file.get(), part_bytes, from_);
    used_ = 0;
    return part_ != nullptr;
}

} // namespace assay::tier
