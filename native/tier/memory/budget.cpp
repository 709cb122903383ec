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
/// Validity of a request for memory, and pause between two searches for memory of ended processes.
constexpr Nanos request_ttl = 500 * nanos_per_milli, pause = 50 * nanos_per_milli;

std::string target(const std::string& link) {
    std::array<char, 64> found{};
    const ssize_t length = ::readlink(link.c_str(), found.data(), found.size());
    return {found.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

/// Return the path of a descriptor of this thread without allocating memory: the waiting thread may be inside
/// an allocation.
std::array<char, 64> fd_path(int fd) {
    std::array<char, 64> slot{};
    std::snprintf(slot.data(), slot.size(), "/proc/thread-self/fd/%d", fd);
    return slot;
}

/// Open the same file again.
Fd reopen(int fd) {
    return Fd(::open(fd_path(fd).data(), O_RDWR | O_CLOEXEC));
}

/// Open the inherited file: by its own descriptor after exec(2), else through /proc from the process that
/// handed it on, or from its pager thread if the program has closed it.
Fd open_inherited(int pid, int fd, int thread) {
    const std::string wanted = std::string("/memfd:") + file_name + " (deleted)";
    const std::string number = std::to_string(fd);
    if (target(fd_path(fd).data()) == wanted) return Fd(fd);
    const std::string process = "/proc/" + std::to_string(pid);
    for (const std::string& there :
         {process + "/fd/" + number, process + "/task/" + std::to_string(thread) + "/fd/" + number})
        if (target(there) == wanted) return Fd(::open(there.c_str(), O_RDWR | O_CLOEXEC));
    return {};
}

/// Keep a descriptor across exec(2), so that the next program finds the budget.
Fd keep_across_exec(Fd fd) {
    fd = move_high(std::move(fd));
    if (fd) ::fcntl(fd.get(), F_SETFD, 0);
    return fd;
}

/// Create the file and reopen it through /proc: writes through the descriptor of memfd_create(2) raise no
/// inotify events (FMODE_NONOTIFY, observed on Linux 6.18).
Fd create_file() {
    const Fd first(static_cast<int>(::syscall(SYS_memfd_create, file_name, 1U /* MFD_CLOEXEC */)));
    return keep_across_exec(reopen(first.get()));
}

bool lock_byte(int fd, std::size_t number, short how) {
    struct flock range{};
    range.l_type = how;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(number);
    range.l_len = 1;
    return ::fcntl(fd, F_SETLK, &range) == 0;
}

} // namespace

std::optional<Budget> Budget::inherit(const char* handle, std::size_t declared) {
    int pid = 0, fd = -1, thread = 0;
    if (handle == nullptr || std::sscanf(handle, "%d:%d:%d", &pid, &fd, &thread) != 3) return std::nullopt;
    Fd file = open_inherited(pid, fd, thread);
    if (!file) return std::nullopt;
    Budget found(file.get() == fd ? std::move(file) : keep_across_exec(std::move(file)));
    if (!found.map() || found.head_->declared != declared) return std::nullopt;
    found.recover(); // Recover the memory that this process held before exec(2).
    return found;
}

Budget::Budget(std::size_t bytes, std::size_t declared) : fd_(create_file()) {
    if (!fd_ || !set_file_size(fd_.get(), sizeof(Header) + max_members * sizeof(Slot)))
        throw std::system_error(errno, std::generic_category(), "file of the DRAM budget");
    if (!map()) throw std::bad_alloc();
    head_->bytes = bytes;
    head_->declared = declared;
    head_->free = static_cast<std::int64_t>(bytes);
}

Budget::Budget(Fd fd) : fd_(std::move(fd)) {}

Budget::Budget(Budget&& other) noexcept
    : fd_(std::move(other.fd_)), wakeup_fd_(std::move(other.wakeup_fd_)),
      head_(std::exchange(other.head_, nullptr)), slot_(std::exchange(other.slot_, no_slot)),
      min_bytes_(other.min_bytes_), joined_before_(other.joined_before_) {}

Budget::~Budget() {
    if (head_ == nullptr) return;
    if (slot_ != no_slot) clear(slot(slot_));
    sys::unmap(head_, whole_pages(sizeof(Header) + max_members * sizeof(Slot)));
}

bool Budget::map() {
    constexpr std::size_t bytes = sizeof(Header) + max_members * sizeof(Slot);
    struct stat found{};
    if (::fstat(fd_.get(), &found) != 0 || found.st_size != static_cast<off_t>(bytes)) return false;
    head_ = reinterpret_cast<Header*>(sys::map_file(fd_.get(), whole_pages(bytes))); // NOLINT
    return head_ != nullptr;
}

Budget::Slot& Budget::slot(std::size_t number) const {
    return reinterpret_cast<Slot*>(head_ + 1)[number]; // NOLINT: they follow
}

/// One inotify instance for each process; fs.inotify.max_user_instances limits their number for each user.
Fd Budget::watch_file() const {
    Fd wakeup_fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!wakeup_fd || ::inotify_add_watch(wakeup_fd.get(), fd_path(fd_.get()).data(), IN_MODIFY) < 0)
        return {};
    return wakeup_fd;
}

void Budget::clear_wakeup() const {
    std::array<std::byte, 4096> events{};
    while (wakeup_fd_ && ::read(wakeup_fd_.get(), events.data(), events.size()) > 0) {
    }
}

std::string Budget::handle(int thread) const {
    return std::to_string(::getpid()) + ":" + std::to_string(fd_.get()) + ":" + std::to_string(thread);
}

bool Budget::lock(std::size_t number) const {
    return lock_byte(fd_.get(), number, F_WRLCK);
}

void Budget::unlock(std::size_t number) const {
    lock_byte(fd_.get(), number, F_UNLCK);
}

bool Budget::join(std::size_t min) {
    if (slot_ != no_slot) return true;
    for (std::size_t i = 0; i < max_members; ++i) {
        if (!lock(i)) continue;
        clear(slot(i));
        slot(i).in_use = 1;
        ++head_->members;
        joined_before_ = head_->joined++;
        slot_ = i;
        min_bytes_ = min;
        wakeup_fd_ = watch_file();
        return true;
    }
    return false;
}

void Budget::clear(Slot& one) {
    head_->free += one.held.exchange(0);
    if (one.in_use.exchange(0) == 1) --head_->members;
}

bool Budget::recover() {
    const Nanos now = now_ns();
    if (now - recovered_at_ < pause) return false;
    recovered_at_ = now;
    bool any = false;
    for (std::size_t i = 0, found = 0; i < max_members && found < head_->members; ++i) {
        if (slot(i).in_use == 0) continue;
        ++found;
        if (i == slot_ || !lock(i)) continue;
        any = any || slot(i).held > 0;
        clear(slot(i));
        unlock(i);
    }
    return any;
}

bool Budget::take(std::size_t bytes) {
    if (slot_ == no_slot) return false;
    const auto wanted = static_cast<std::int64_t>(bytes);
    std::atomic<std::int64_t>& held = slot(slot_).held;
    do {
        std::int64_t free = head_->free;
        while (free >= wanted || held + wanted <= static_cast<std::int64_t>(min_bytes_))
            if (head_->free.compare_exchange_weak(free, free - wanted)) {
                held += wanted;
                return true;
            }
    } while (recover());
    if (held + wanted <= static_cast<std::int64_t>(fair_share_bytes())) request();
    return false;
}

void Budget::request() {
    const Nanos now = now_ns();
    head_->requested_at = now;
    if (now - notified_at_ < pause) return;
    notified_at_ = now;
    const std::uint64_t value = 1;
    // Processes also poll, so that a failed notification only causes a delay.
    if (::pwrite(fd_.get(), &value, sizeof value, offsetof(Header, notification)) < 0) return;
}

void Budget::release(std::size_t bytes) {
    slot(slot_).held -= static_cast<std::int64_t>(bytes);
    head_->free += static_cast<std::int64_t>(bytes);
}

std::size_t Budget::free_bytes() const {
    return static_cast<std::size_t>(std::max(head_->free.load(), std::int64_t{0}));
}

std::size_t Budget::fair_share_bytes() const {
    return std::max(head_->bytes / std::max(head_->members.load(), std::uint64_t{1}), min_bytes_);
}

std::size_t Budget::limit_bytes() const {
    return std::max(fair_share_bytes(), static_cast<std::size_t>(slot(slot_).held));
}

bool Budget::is_contended() const {
    return head_->members > 1 && head_->free < static_cast<std::int64_t>(head_->bytes / 32) &&
           now_ns() - head_->requested_at < request_ttl;
}

std::size_t Budget::surplus_bytes() const {
    const auto held = static_cast<std::size_t>(slot(slot_).held);
    return held - std::min(held, fair_share_bytes());
}

} // namespace assay::tier
