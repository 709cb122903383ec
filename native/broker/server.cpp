#include "broker/server.hpp"

#include "broker/move.hpp"
#include "broker/process.hpp"
#include "common/cpulist.hpp"
#include "common/json_writer.hpp"

#include <errno.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace assay::broker {

namespace {

constexpr std::size_t max_request_bytes = 16U << 10;
/// Maximum number of connections. Each uses a descriptor, and one user must not take all of them.
constexpr std::size_t max_peers = 512;
constexpr std::size_t max_peers_per_user = 128;
/// After this time only processes that cannot be killed remain, such as those blocked on a failed disk.
constexpr std::chrono::milliseconds max_closing_time{1500};
constexpr std::chrono::milliseconds closing_interval{5};
constexpr std::chrono::milliseconds stuck_interval{100};
/// Time per pass for removing groups, before other clients are served again.
constexpr std::chrono::milliseconds max_pass_time{20};
constexpr std::string_view no_process = "the process does not exist";
constexpr std::string_view out_of_memory = "the broker is out of memory";

/// Return the answer to a request that is refused.
std::string refused(std::string_view error, std::string_view message, std::string_view resource = {},
                    std::string_view detail = {}) {
    JsonWriter json;
    json.begin_object().member("error", error).member("message", message);
    if (!resource.empty()) json.member("resource", resource).member("detail", detail);
    json.end_object();
    return json.text();
}

bool is_recent(std::chrono::steady_clock::time_point since) {
    return std::chrono::steady_clock::now() - since < max_closing_time;
}

} // namespace

Server::Server(const Partition& partition, Fd listening, Fd ending)
    : partition_(partition), listening_(std::move(listening)), ending_(std::move(ending)),
      allocator_(partition) {}

void Server::run() {
    for (;;) {
        std::vector<pollfd> polled{{ending_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
        for (const auto& [fd, peer] : peers_)
            polled.push_back({fd, static_cast<short>(peer.pending ? 0 : POLLIN), 0});
        if (::poll(polled.data(), polled.size(), pause_ms()) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (polled[0].revents != 0) break;
        const auto now = Clock::now();
        for (std::size_t i = 2; i < polled.size(); ++i) {
            if ((polled[i].revents & POLLIN) == 0) continue;
            const auto peer = peers_.find(polled[i].fd);
            if (!receive(peer->second, now)) close_connection(peer, now);
        }
        // After reading requests: a connection closed before another request was sent must count as closed.
        close_ended_connections(now);
        remove_closing_groups();
        answer_pending(now);
        if (polled[1].revents != 0) accept_one();
    }
    while (!peers_.empty()) close_connection(peers_.begin(), Clock::now());
    remove_closing_groups();
    while (any_recently_closed()) {
        std::this_thread::sleep_for(closing_interval);
        remove_closing_groups();
    }
}

void Server::accept_one() {
    Fd socket{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!socket) return;
    ucred owner{};
    socklen_t size = sizeof owner;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0) return;
    std::size_t of_user = 0;
    for (const auto& [fd, peer] : peers_) of_user += peer.owner.uid == owner.uid ? 1 : 0;
    if (peers_.size() >= max_peers || of_user >= max_peers_per_user) return;
    const int fd = socket.get();
    Peer& peer = peers_[fd];
    peer.owner = {owner.uid, owner.gid, origins_of(fd, owner)};
    peer.pid = owner.pid;
    peer.socket = std::move(socket);
}

/// Read the groups now: later the process may have ended and its number may be reused.
std::vector<std::string> Server::origins_of(int socket, const ucred& owner) const {
    const Process process = Process::of_peer(socket, owner);
    std::vector<std::string> found;
    for (const auto& hierarchy : partition_.hierarchies) found.push_back(process.group(hierarchy));
    // A process that has changed its user may have been moved to groups that are not the peer's.
    return process.user() == owner.uid ? found : std::vector<std::string>{};
}

bool Server::receive(Peer& peer, Clock::time_point now) {
    std::array<char, max_request_bytes> buffer{};
    // MSG_TRUNC returns the full length of a packet, even if it did not fit.
    const ssize_t length = ::recv(peer.socket.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    if (length == 0) return false;
    if (static_cast<std::size_t>(length) > buffer.size())
        return send_answer(peer, refused("unreadable", "the request is too long"));
    try {
        peer.pending = {parse_request({buffer.data(), static_cast<std::size_t>(length)}), now};
        return true;
    } catch (const RequestError& error) {
        return send_answer(peer, refused("unreadable", error.what()));
    } catch (const std::bad_alloc&) {
        return send_answer(peer, refused("failed", out_of_memory));
    }
}

void Server::close_connection(std::map<int, Peer>::iterator peer, Clock::time_point now) {
    if (peer->second.lease != 0)
        closing_.push_back({peer->second.lease, std::move(peer->second.groups), now});
    peers_.erase(peer);
}

void Server::close_ended_connections(Clock::time_point now) {
    std::vector<pollfd> polled;
    for (const auto& [fd, peer] : peers_) polled.push_back({fd, 0, 0});
    if (::poll(polled.data(), polled.size(), 0) <= 0) return;
    for (const auto& one : polled) {
        if (one.revents != 0) close_connection(peers_.find(one.fd), now);
    }
}

void Server::answer_pending(Clock::time_point now) {
    for (auto peer = peers_.begin(); peer != peers_.end();) {
        const auto one = peer++;
        if (!one->second.pending || must_wait(*one->second.pending)) continue;
        const Request request = std::move(one->second.pending->request);
        one->second.pending.reset();
        if (!send_answer(one->second, answer(one->second, request))) close_connection(one, now);
    }
}

/// A request waits for shares that were closed before it was sent, but not for those closed later.
bool Server::must_wait(const PendingRequest& pending) const {
    if (pending.request.verb == Verb::move) return false;
    return std::ranges::any_of(closing_, [&](const ClosingShare& one) {
        return one.since <= pending.received_at && is_recent(one.since);
    });
}

bool Server::send_answer(const Peer& peer, const std::string& answer) {
    // Do not wait for clients that do not read their answers.
    return ::send(peer.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(answer.size());
}

std::string Server::answer(Peer& peer, const Request& request) {
    try {
        switch (request.verb) {
        case Verb::show:
            return show(peer);
        case Verb::reserve:
            return reserve(peer, request.share);
        case Verb::move:
            return move(peer, request.pid, request.share.cpus);
        case Verb::begin_deletion:
            return begin_deletion(peer);
        }
    } catch (const std::bad_alloc&) {
        return refused("failed", out_of_memory);
    }
    return {};
}

std::string Server::show(const Peer& peer) const {
    const auto listed = [](const std::set<int>& set) { return format_cpulist({set.begin(), set.end()}); };
    JsonWriter json;
    json.begin_object()
        .member("version", ASSAY_VERSION)
        .member("name", partition_.name)
        .member("cpus", format_cpulist(partition_.cpus))
        .member("free_cpus", listed(allocator_.free_cpus()))
        .member("memory_bytes", partition_.memory_bytes)
        .member("free_bytes", allocator_.free_bytes())
        .member("gpus", format_cpulist(partition_.gpus))
        .member("free_gpus", listed(allocator_.free_gpus()))
        .key("shares")
        .begin_array();
    for (const auto& [fd, other] : peers_) {
        if (other.lease == 0) continue;
        const Share& share = allocator_.shares().at(other.lease);
        json.begin_object()
            .member("lease", other.lease)
            .member("cpus", format_cpulist(share.cpus))
            .member("memory_bytes", share.memory_bytes)
            .member("gpus", format_cpulist(share.gpus))
            .member("uid", static_cast<std::int64_t>(other.owner.uid));
        // Process ids are shown only to their own user and root.
        if (peer.owner.uid == 0 || peer.owner.uid == other.owner.uid) json.member("pid", other.pid);
        json.end_object();
    }
    json.end_array().end_object();
    return json.text();
}

/// Stop new reservations while root deletes the partition. They are possible again if that connection ends.
std::string Server::begin_deletion(Peer& peer) {
    if (peer.owner.uid != 0) return refused("foreign", "only root can delete a partition");
    peer.is_deleting = true;
    return show(peer);
}

std::string Server::reserve(Peer& peer, const Share& share) {
    if (std::ranges::any_of(peers_, [](const auto& one) { return one.second.is_deleting; }))
        return refused("ending", "the partition is being deleted");
    if (peer.lease != 0) return refused("held", "this connection already has a share");
    const int lease = ++leases_;
    const Refusal refusal = allocator_.reserve(lease, share);
    if (!refusal.error.empty())
        return refused(refusal.error, "the share is not available", refusal.resource, refusal.detail);
    std::unique_ptr<ShareGroups> groups;
    try {
        groups = std::make_unique<ShareGroups>(partition_, lease, share, peer.owner);
    } catch (const std::bad_alloc&) {
        allocator_.release(lease);
        throw;
    }
    if (!groups->error().empty()) {
        allocator_.release(lease);
        return refused("failed", groups->error());
    }
    peer.lease = lease;
    peer.groups = std::move(groups);
    JsonWriter json;
    json.begin_object().member("lease", lease).key("folders").begin_array();
    for (const auto& folder : peer.groups->folders()) json.value(folder);
    json.end_array().end_object();
    return json.text();
}

std::string Server::move(Peer& peer, pid_t pid, const std::vector<int>& cpus) const {
    if (peer.lease == 0) return refused("none", "this connection has no share");
    const auto& own = allocator_.shares().at(peer.lease).cpus;
    for (const int cpu : cpus) {
        if (std::find(own.begin(), own.end(), cpu) == own.end())
            return refused("unknown", "not in the share", "cpus", std::to_string(cpu));
    }
    const Process process{pid};
    const auto owner = process.user();
    if (!owner) return refused("gone", no_process);
    if (peer.owner.uid != 0 && *owner != peer.owner.uid)
        return refused("foreign", "the process belongs to another user");
    if (const int error = peer.groups->move(process))
        return error == ESRCH ? refused("gone", no_process) : refused("failed", std::strerror(error));
    const int error = cpus.empty() ? 0 : set_affinity(process, cpus);
    if (error == ESRCH) return refused("gone", no_process);
    return error == 0 ? "{}"
                      : refused("failed", "CPUs " + format_cpulist(cpus) + ": " + std::strerror(error));
}

/// Remove groups in turn for a short time, because other clients are waiting.
void Server::remove_closing_groups() {
    const auto end = Clock::now() + max_pass_time;
    for (std::size_t i = closing_.size(); i > 0 && Clock::now() < end; --i) {
        ClosingShare one = std::move(closing_.front());
        closing_.pop_front();
        if (one.groups->remove())
            allocator_.release(one.lease);
        else
            closing_.push_back(std::move(one));
    }
}

bool Server::any_recently_closed() const {
    return std::ranges::any_of(closing_, [](const ClosingShare& one) { return is_recent(one.since); });
}

int Server::pause_ms() const {
    if (closing_.empty()) return -1;
    const bool awaited =
        std::ranges::any_of(peers_, [](const auto& one) { return one.second.pending.has_value(); });
    const auto pause = awaited || any_recently_closed() ? closing_interval : stuck_interval;
    return static_cast<int>(pause.count());
}

} // namespace assay::broker
