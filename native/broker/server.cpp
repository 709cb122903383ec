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

constexpr std::size_t longest_question = 16U << 10;
/// Beyond it nobody is let in: each holds a descriptor, and one user may not take all of them.
constexpr std::size_t most_peers = 512;
constexpr std::size_t most_peers_of_one = 128;
/// Groups are empty by then but for processes that cannot be killed, as those that wait for a dead disk.
constexpr std::chrono::milliseconds longest_leaving{1500};
constexpr std::chrono::milliseconds leaving_pause{5};
constexpr std::chrono::milliseconds stuck_pause{100};
/// At what has left, before others are listened to again.
constexpr std::chrono::milliseconds longest_pass{20};
constexpr std::string_view no_process = "there is no such process";
constexpr std::string_view out_of_memory = "the broker is out of memory";

std::string refused(std::string_view kind, std::string_view told, std::string_view what = {},
                    std::string_view which = {}) {
    JsonWriter json;
    json.begin_object().member("error", kind).member("message", told);
    if (!what.empty()) json.member("what", what).member("which", which);
    json.end_object();
    return json.text();
}

bool lately(std::chrono::steady_clock::time_point since) {
    return std::chrono::steady_clock::now() - since < longest_leaving;
}

} // namespace

Server::Server(const Partition& partition, Fd listening, Fd ending)
    : partition_(partition), listening_(std::move(listening)), ending_(std::move(ending)),
      ledger_(partition) {}

void Server::run() {
    for (;;) {
        std::vector<pollfd> waited{{ending_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
        for (const auto& [fd, peer] : peers_)
            waited.push_back({fd, static_cast<short>(peer.asked ? 0 : POLLIN), 0});
        if (::poll(waited.data(), waited.size(), pause_ms()) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (waited[0].revents != 0) break;
        const auto now = Clock::now();
        for (std::size_t i = 2; i < waited.size(); ++i) {
            if ((waited[i].revents & POLLIN) == 0) continue;
            const auto peer = peers_.find(waited[i].fd);
            if (!receive(peer->second, now)) hang_up(peer, now);
        }
        // Once the questions are read: among these is whoever hung up before one of them was asked.
        dismiss(now);
        see_off();
        answer_those_asked(now);
        if (waited[1].revents != 0) accept_one();
    }
    while (!peers_.empty()) hang_up(peers_.begin(), Clock::now());
    see_off();
    while (any_left_lately()) {
        std::this_thread::sleep_for(leaving_pause);
        see_off();
    }
}

void Server::accept_one() {
    Fd socket{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!socket) return;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return;
    std::size_t of_one = 0;
    for (const auto& [fd, peer] : peers_) of_one += peer.who.uid == who.uid ? 1 : 0;
    if (peers_.size() >= most_peers || of_one >= most_peers_of_one) return;
    const int fd = socket.get();
    Peer& peer = peers_[fd];
    peer.who = {who.uid, who.gid, origins_of(fd, who)};
    peer.pid = who.pid;
    peer.socket = std::move(socket);
}

/// Now, for later the process may have ended, and another have its number.
std::vector<std::string> Server::origins_of(int socket, const ucred& who) const {
    const Process process = Process::of_peer(socket, who);
    std::vector<std::string> found;
    for (const auto& hierarchy : partition_.hierarchies) found.push_back(process.group(hierarchy));
    // One that became another user's meanwhile may have been moved with that, to groups that are not the
    // peer's.
    return process.user() == who.uid ? found : std::vector<std::string>{};
}

bool Server::receive(Peer& peer, Clock::time_point now) {
    std::array<char, longest_question> buffer{};
    // MSG_TRUNC tells the whole length of a packet, also of one that did not fit.
    const ssize_t length = ::recv(peer.socket.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    if (length == 0) return false;
    if (static_cast<std::size_t>(length) > buffer.size())
        return tell(peer, refused("unreadable", "the question is too long"));
    try {
        peer.asked = {parse_question({buffer.data(), static_cast<std::size_t>(length)}), now};
        return true;
    } catch (const QuestionError& error) {
        return tell(peer, refused("unreadable", error.what()));
    } catch (const std::bad_alloc&) {
        return tell(peer, refused("failed", out_of_memory));
    }
}

void Server::hang_up(std::map<int, Peer>::iterator peer, Clock::time_point now) {
    if (peer->second.lease != 0)
        leaving_.push_back({peer->second.lease, std::move(peer->second.groups), now});
    peers_.erase(peer);
}

void Server::dismiss(Clock::time_point now) {
    std::vector<pollfd> looked_at;
    for (const auto& [fd, peer] : peers_) looked_at.push_back({fd, 0, 0});
    if (::poll(looked_at.data(), looked_at.size(), 0) <= 0) return;
    for (const auto& one : looked_at) {
        if (one.revents != 0) hang_up(peers_.find(one.fd), now);
    }
}

void Server::answer_those_asked(Clock::time_point now) {
    for (auto peer = peers_.begin(); peer != peers_.end();) {
        const auto one = peer++;
        if (!one->second.asked || waits(*one->second.asked)) continue;
        const Question question = std::move(one->second.asked->question);
        one->second.asked.reset();
        if (!tell(one->second, answer(one->second, question))) hang_up(one, now);
    }
}

/// Who comes after another finds free what he has let go of; nobody waits for those who leave later.
bool Server::waits(const Asked& asked) const {
    if (asked.question.verb == Verb::move) return false;
    return std::ranges::any_of(
        leaving_, [&](const Leaving& one) { return one.since <= asked.when && lately(one.since); });
}

bool Server::tell(const Peer& peer, const std::string& answer) {
    // Who does not read the answers is not waited for.
    return ::send(peer.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(answer.size());
}

std::string Server::answer(Peer& peer, const Question& question) {
    try {
        switch (question.verb) {
        case Verb::show:
            return show(peer);
        case Verb::reserve:
            return reserve(peer, question.share);
        case Verb::move:
            return move(peer, question.pid, question.share.cpus);
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
        .member("engine", ASSAY_VERSION)
        .member("name", partition_.name)
        .member("cpus", format_cpulist(partition_.cpus))
        .member("free_cpus", listed(ledger_.free_cpus()))
        .member("memory_bytes", partition_.memory_bytes)
        .member("free_bytes", ledger_.free_bytes())
        .member("gpus", format_cpulist(partition_.gpus))
        .member("free_gpus", listed(ledger_.free_gpus()))
        .key("shares")
        .begin_array();
    for (const auto& [fd, other] : peers_) {
        if (other.lease == 0) continue;
        const Share& share = ledger_.shares().at(other.lease);
        json.begin_object()
            .member("lease", other.lease)
            .member("cpus", format_cpulist(share.cpus))
            .member("memory_bytes", share.memory_bytes)
            .member("gpus", format_cpulist(share.gpus))
            .member("uid", static_cast<std::int64_t>(other.who.uid));
        // Which processes others run is theirs to tell.
        if (peer.who.uid == 0 || peer.who.uid == other.who.uid) json.member("pid", other.pid);
        json.end_object();
    }
    json.end_array().end_object();
    return json.text();
}

/// Who is to delete the partition sees it as it stays until then; it opens again where that one is stopped.
std::string Server::begin_deletion(Peer& peer) {
    if (peer.who.uid != 0) return refused("foreign", "root alone deletes partitions");
    peer.deletes = true;
    return show(peer);
}

std::string Server::reserve(Peer& peer, const Share& share) {
    if (std::ranges::any_of(peers_, [](const auto& one) { return one.second.deletes; }))
        return refused("ending", "the partition is being deleted");
    if (peer.lease != 0) return refused("held", "this connection has a share already");
    const int lease = ++leases_;
    const Refusal refusal = ledger_.take(lease, share);
    if (!refusal.kind.empty()) return refused(refusal.kind, "not to be had", refusal.what, refusal.which);
    std::unique_ptr<Groups> groups;
    try {
        groups = std::make_unique<Groups>(partition_, lease, share, peer.who);
    } catch (const std::bad_alloc&) {
        ledger_.give_back(lease);
        throw;
    }
    if (!groups->error().empty()) {
        ledger_.give_back(lease);
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
    const auto& own = ledger_.shares().at(peer.lease).cpus;
    for (const int cpu : cpus) {
        if (std::find(own.begin(), own.end(), cpu) == own.end())
            return refused("unknown", "not of the share", "cpus", std::to_string(cpu));
    }
    const Process process{pid};
    const auto owner = process.user();
    if (!owner) return refused("gone", no_process);
    if (peer.who.uid != 0 && *owner != peer.who.uid)
        return refused("foreign", "it is another user's process");
    if (const int error = peer.groups->move(process))
        return error == ESRCH ? refused("gone", no_process) : refused("failed", std::strerror(error));
    const int error = cpus.empty() ? 0 : confine(process, cpus);
    if (error == ESRCH) return refused("gone", no_process);
    return error == 0 ? "{}"
                      : refused("failed", "CPUs " + format_cpulist(cpus) + ": " + std::strerror(error));
}

/// In turn, and not for long: others wait for their answers.
void Server::see_off() {
    const auto end = Clock::now() + longest_pass;
    for (std::size_t i = leaving_.size(); i > 0 && Clock::now() < end; --i) {
        Leaving one = std::move(leaving_.front());
        leaving_.pop_front();
        if (one.groups->leave())
            ledger_.give_back(one.lease);
        else
            leaving_.push_back(std::move(one));
    }
}

bool Server::any_left_lately() const {
    return std::ranges::any_of(leaving_, [](const Leaving& one) { return lately(one.since); });
}

int Server::pause_ms() const {
    if (leaving_.empty()) return -1;
    const bool awaited =
        std::ranges::any_of(peers_, [](const auto& one) { return one.second.asked.has_value(); });
    const auto pause = awaited || any_left_lately() ? leaving_pause : stuck_pause;
    return static_cast<int>(pause.count());
}

} // namespace assay::broker
