#include "broker/server.hpp"

#include "broker/move.hpp"
#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "common/json_writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

namespace assay::broker {

namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_question = 16U << 10;
/// Beyond it nobody is let in: each holds a descriptor, and one user may not take all of them.
constexpr std::size_t most_peers = 512;
constexpr std::size_t most_peers_of_one = 128;
/// Groups are empty by then but for processes that cannot be killed, as those that wait for a dead disk.
constexpr std::chrono::milliseconds longest_leaving{1500};
constexpr std::chrono::milliseconds leaving_pause{5};
constexpr std::chrono::milliseconds stuck_pause{1000};

std::string refused(std::string_view kind, std::string_view told, std::string_view what = {},
                    std::string_view which = {}) {
    JsonWriter json;
    json.begin_object().member("error", kind).member("message", told);
    if (!what.empty()) json.member("what", what).member("which", which);
    json.end_object();
    return json.text();
}

std::optional<std::vector<int>> list_of(const Json& question, const char* key) {
    const auto found = question.find(key);
    if (found == question.end()) return std::vector<int>{};
    if (!found->is_string()) return std::nullopt;
    const auto text = found->get<std::string>();
    return text.empty() ? std::vector<int>{} : parse_cpulist(text);
}

std::optional<std::int64_t> number_of(const Json& question, const char* key) {
    const auto found = question.find(key);
    if (found == question.end()) return 0;
    if (!found->is_number_unsigned()) return std::nullopt;
    const auto number = found->get<std::uint64_t>();
    if (number > INT64_MAX) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

/// The real user: a launcher that is root for its caller is the caller's.
std::optional<uid_t> owner_of(pid_t pid) {
    const auto status = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/status").c_str());
    const auto uid = status ? number_after(*status, "Uid") : std::nullopt;
    return uid ? std::optional{static_cast<uid_t>(*uid)} : std::nullopt;
}

bool lives(const Fd& pidfd) {
    pollfd one{pidfd.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 0;
}

} // namespace

Server::Server(const Partition& partition, Fd listening, Fd ending)
    : partition_(partition), listening_(std::move(listening)), ending_(std::move(ending)),
      ledger_(partition) {}

void Server::run() {
    for (;;) {
        std::vector<pollfd> waited{{ending_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
        for (const auto& [fd, peer] : peers_) waited.push_back({fd, POLLIN, 0});
        if (::poll(waited.data(), waited.size(), pause_ms()) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (waited[0].revents != 0) break;
        see_off();
        for (std::size_t i = 2; i < waited.size(); ++i) {
            if (waited[i].revents == 0) continue;
            const auto peer = peers_.find(waited[i].fd);
            if (!serve(peer->second)) {
                release(peer->second);
                peers_.erase(peer);
            }
        }
        if (waited[1].revents != 0) accept_one();
    }
    for (auto& [fd, peer] : peers_) release(peer);
    await_those();
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
    peer.socket = std::move(socket);
    peer.who = who;
}

bool Server::serve(Peer& peer) {
    std::array<char, longest_question> buffer{};
    // MSG_TRUNC tells the whole length of a packet, also of one that did not fit.
    const ssize_t length = ::recv(peer.socket.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    if (length == 0) return false;
    const std::string told = static_cast<std::size_t>(length) > buffer.size()
                                 ? refused("unreadable", "the question is too long")
                                 : answer(peer, {buffer.data(), static_cast<std::size_t>(length)});
    // Who does not read the answers is not waited for.
    return ::send(peer.socket.get(), told.data(), told.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(told.size());
}

std::string Server::answer(Peer& peer, std::string_view text) {
    const Json question = Json::parse(text, nullptr, false);
    if (question.is_discarded() || !question.is_object()) return refused("unreadable", "no JSON object");
    const auto verb = question.find("do");
    const std::string asked = verb != question.end() && verb->is_string() ? verb->get<std::string>() : "";
    if (asked == "show") {
        await_those(); // who comes after another finds free what he has let go of
        return show(peer);
    }
    if (asked == "delete") return begin_deletion(peer);
    if (asked == "release") {
        release(peer);
        return "{}";
    }
    if (asked == "reserve") {
        auto cpus = list_of(question, "cpus");
        auto gpus = list_of(question, "gpus");
        const auto bytes = number_of(question, "memory_bytes");
        if (!cpus || !gpus || !bytes)
            return refused("unreadable", "cpus, gpus or memory_bytes cannot be read");
        return reserve(peer, {std::move(*cpus), *bytes, std::move(*gpus)});
    }
    if (asked == "move") {
        const auto pid = number_of(question, "pid");
        if (!pid || *pid <= 0 || *pid > INT32_MAX) return refused("unreadable", "pid is no process");
        const auto cpus = list_of(question, "cpus");
        if (!cpus) return refused("unreadable", "cpus cannot be read");
        return move(peer, static_cast<pid_t>(*pid), *cpus);
    }
    return refused("unreadable", "\"do\" is show, reserve, move, release or delete");
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
        if (peer.who.uid == 0 || peer.who.uid == other.who.uid) json.member("pid", other.who.pid);
        json.end_object();
    }
    json.end_array().end_object();
    return json.text();
}

/// Who is to delete the partition sees it as it stays until then; it opens again where that one is stopped.
std::string Server::begin_deletion(Peer& peer) {
    if (peer.who.uid != 0) return refused("foreign", "root alone deletes partitions");
    peer.deletes = true;
    await_those();
    return show(peer);
}

std::string Server::reserve(Peer& peer, Share share) {
    if (std::ranges::any_of(peers_, [](const auto& one) { return one.second.deletes; }))
        return refused("ending", "the partition is being deleted");
    if (peer.lease != 0) return refused("held", "this connection has a share; release it first");
    await_those();
    const int lease = ++leases_;
    const Refusal refusal = ledger_.take(lease, share);
    if (!refusal.kind.empty()) return refused(refusal.kind, "not to be had", refusal.what, refusal.which);
    auto groups = std::make_unique<Groups>(partition_, lease, share, Owner{peer.who.uid, peer.who.gid});
    if (!groups->error().empty()) {
        ledger_.give_back(lease);
        return refused("failed", groups->error());
    }
    groups->origins_of(peer.who.pid);
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
    // Held open, the process keeps its number to itself: what was looked at is what is moved, unless it
    // ended.
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    const auto owner = owner_of(pid);
    if (!pidfd || !owner) return refused("gone", "there is no such process");
    if (peer.who.uid != 0 && *owner != peer.who.uid)
        return refused("foreign", "it is another user's process");
    if (!lives(pidfd)) return refused("gone", "there is no such process");
    if (const int error = peer.groups->move(pid)) return refused("failed", std::strerror(error));
    const int error = cpus.empty() ? 0 : confine(pid, cpus);
    return error == 0 ? "{}"
                      : refused("failed", "CPUs " + format_cpulist(cpus) + ": " + std::strerror(error));
}

void Server::release(Peer& peer) {
    if (peer.lease == 0) return;
    leaving_.push_back({peer.lease, std::move(peer.groups)});
    peer.lease = 0;
    see_off();
}

void Server::see_off() {
    std::erase_if(leaving_, [this](const Leaving& one) {
        if (!one.groups->leave()) return false;
        ledger_.give_back(one.lease);
        return true;
    });
}

void Server::await_those() {
    const auto lately = [](const Leaving& one) { return one.groups->leaving() < longest_leaving; };
    while (std::any_of(leaving_.begin(), leaving_.end(), lately)) {
        std::this_thread::sleep_for(leaving_pause);
        see_off();
    }
}

int Server::pause_ms() const {
    if (leaving_.empty()) return -1;
    Groups::Age least = Groups::Age::max();
    for (const auto& one : leaving_) least = std::min(least, one.groups->leaving());
    const auto pause = least < longest_leaving ? leaving_pause : stuck_pause;
    return static_cast<int>(pause.count());
}

} // namespace assay::broker
