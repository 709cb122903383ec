#include "tier/memory/budget.hpp"

#include "tier/base/file_size.hpp"
#include "tier/base/high_descriptor.hpp"
#include "tier/base/sys.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

namespace assay::tier {

namespace {

constexpr const char* file_name = "assay-budget";
/// So long does a process that found too little want more, and so long is what others left not looked for.
constexpr Nanos wish = 500 * nanos_per_milli, pause = 50 * nanos_per_milli;

std::string target(const std::string& link) {
    std::array<char, 64> found{};
    const ssize_t length = ::readlink(link.c_str(), found.data(), found.size());
    return {found.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

/// Return the path of a descriptor of this thread, without an allocation: the waiting thread may be within
/// one.
std::array<char, 64> place_of(int fd) {
    std::array<char, 64> place{};
    std::snprintf(place.data(), place.size(), "/proc/thread-self/fd/%d", fd);
    return place;
}

/// Another one of the same file.
Fd opened_anew(int fd) {
    return Fd(::open(place_of(fd).data(), O_RDWR | O_CLOEXEC));
}

/// The descriptor that a process kept through exec(2), or that of the process which handed it on: its own,
/// or that of its pager where the program has closed it.
Fd opened(int pid, int fd, int thread) {
    const std::string wanted = std::string("/memfd:") + file_name + " (deleted)";
    const std::string number = std::to_string(fd);
    if (target(place_of(fd).data()) == wanted) return Fd(fd);
    const std::string process = "/proc/" + std::to_string(pid);
    for (const std::string& there :
         {process + "/fd/" + number, process + "/task/" + std::to_string(thread) + "/fd/" + number})
        if (target(there) == wanted) return Fd(::open(there.c_str(), O_RDWR | O_CLOEXEC));
    return {};
}

/// Kept through exec(2), which leaves the program its memory to be found again.
Fd kept(Fd fd) {
    fd = lifted(std::move(fd));
    if (fd) ::fcntl(fd.get(), F_SETFD, 0);
    return fd;
}

/// Opened anew by its place below /proc: what is written by the descriptor that memfd_create(2) gives is not
/// heard (FMODE_NONOTIFY, seen with Linux 6.18).
Fd new_file() {
    const Fd first(static_cast<int>(::syscall(SYS_memfd_create, file_name, 1U /* MFD_CLOEXEC */)));
    return kept(opened_anew(first.get()));
}

bool locked(int fd, std::size_t number, short how) {
    struct flock range{};
    range.l_type = how;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(number);
    range.l_len = 1;
    return ::fcntl(fd, F_SETLK, &range) == 0;
}

} // namespace

std::optional<Budget> Budget::handed(const char* name, std::size_t declared) {
    int pid = 0, fd = -1, thread = 0;
    if (name == nullptr || std::sscanf(name, "%d:%d:%d", &pid, &fd, &thread) != 3) return std::nullopt;
    Fd file = opened(pid, fd, thread);
    if (!file) return std::nullopt;
    Budget found(file.get() == fd ? std::move(file) : kept(std::move(file)));
    if (!found.map() || found.head_->declared != declared) return std::nullopt;
    found.collect(); // What this process had itself, before it was another program.
    return found;
}

Budget::Budget(std::size_t bytes, std::size_t declared) : file_(new_file()) {
    if (!file_ || !size_file(file_.get(), sizeof(Head) + most_users * sizeof(Place)))
        throw std::system_error(errno, std::generic_category(), "memory for the budget of DRAM");
    if (!map()) throw std::bad_alloc();
    head_->bytes = bytes;
    head_->declared = declared;
    head_->left = static_cast<std::int64_t>(bytes);
}

Budget::Budget(Fd file) : file_(std::move(file)) {}

Budget::Budget(Budget&& other) noexcept
    : file_(std::move(other.file_)), news_(std::move(other.news_)),
      head_(std::exchange(other.head_, nullptr)), own_(std::exchange(other.own_, nowhere)),
      least_(other.least_), before_(other.before_) {}

Budget::~Budget() {
    if (head_ == nullptr) return;
    if (own_ != nowhere) clear(place(own_));
    sys::unmap(head_, whole_pages(sizeof(Head) + most_users * sizeof(Place)));
}

bool Budget::map() {
    constexpr std::size_t bytes = sizeof(Head) + most_users * sizeof(Place);
    struct stat found{};
    if (::fstat(file_.get(), &found) != 0 || found.st_size != static_cast<off_t>(bytes)) return false;
    head_ = reinterpret_cast<Head*>(sys::map_file(file_.get(), whole_pages(bytes))); // NOLINT
    return head_ != nullptr;
}

Budget::Place& Budget::place(std::size_t number) const {
    return reinterpret_cast<Place*>(head_ + 1)[number]; // NOLINT: they follow
}

/// One for each process; a user may have as many as fs.inotify.max_user_instances says.
Fd Budget::listening() const {
    Fd news(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!news || ::inotify_add_watch(news.get(), place_of(file_.get()).data(), IN_MODIFY) < 0) return {};
    return news;
}

void Budget::clear_news() const {
    std::array<std::byte, 4096> events{};
    while (news_ && ::read(news_.get(), events.data(), events.size()) > 0) {
    }
}

std::string Budget::name(int thread) const {
    return std::to_string(::getpid()) + ":" + std::to_string(file_.get()) + ":" + std::to_string(thread);
}

bool Budget::lock(std::size_t number) const {
    return locked(file_.get(), number, F_WRLCK);
}

void Budget::unlock(std::size_t number) const {
    locked(file_.get(), number, F_UNLCK);
}

bool Budget::join(std::size_t least) {
    if (own_ != nowhere) return true;
    for (std::size_t i = 0; i < most_users; ++i) {
        if (!lock(i)) continue;
        clear(place(i));
        place(i).taken = 1;
        ++head_->users;
        before_ = head_->joined++;
        own_ = i;
        least_ = least;
        news_ = listening();
        return true;
    }
    return false;
}

void Budget::clear(Place& one) {
    head_->left += one.held.exchange(0);
    if (one.taken.exchange(0) == 1) --head_->users;
}

bool Budget::collect() {
    const Nanos now = now_ns();
    if (now - collected_ < pause) return false;
    collected_ = now;
    bool any = false;
    for (std::size_t i = 0, users = 0; i < most_users && users < head_->users; ++i) {
        if (place(i).taken == 0) continue;
        ++users;
        if (i == own_ || !lock(i)) continue;
        any = any || place(i).held > 0;
        clear(place(i));
        unlock(i);
    }
    return any;
}

bool Budget::take(std::size_t bytes) {
    if (own_ == nowhere) return false;
    const auto wanted = static_cast<std::int64_t>(bytes);
    std::atomic<std::int64_t>& held = place(own_).held;
    do {
        std::int64_t left = head_->left;
        while (left >= wanted || held + wanted <= static_cast<std::int64_t>(least_))
            if (head_->left.compare_exchange_weak(left, left - wanted)) {
                held += wanted;
                return true;
            }
    } while (collect());
    if (held + wanted <= static_cast<std::int64_t>(share_bytes())) want();
    return false;
}

void Budget::want() {
    const Nanos now = now_ns();
    head_->wanted_at = now;
    if (now - told_ < pause) return;
    told_ = now;
    const std::uint64_t rung = 1;
    // Who does not hear it looks by himself, so that a failure only takes longer.
    if (::pwrite(file_.get(), &rung, sizeof rung, offsetof(Head, bell)) < 0) return;
}

void Budget::give(std::size_t bytes) {
    place(own_).held -= static_cast<std::int64_t>(bytes);
    head_->left += static_cast<std::int64_t>(bytes);
}

std::size_t Budget::left_bytes() const {
    return static_cast<std::size_t>(std::max(head_->left.load(), std::int64_t{0}));
}

std::size_t Budget::share_bytes() const {
    return std::max(head_->bytes / std::max(head_->users.load(), std::uint64_t{1}), least_);
}

std::size_t Budget::limit_bytes() const {
    return std::max(share_bytes(), static_cast<std::size_t>(place(own_).held));
}

bool Budget::is_wanted() const {
    return head_->users > 1 && head_->left < static_cast<std::int64_t>(head_->bytes / 32) &&
           now_ns() - head_->wanted_at < wish;
}

std::size_t Budget::surplus_bytes() const {
    const auto held = static_cast<std::size_t>(place(own_).held);
    return held - std::min(held, share_bytes());
}

} // namespace assay::tier
