#pragma once

#include "broker/allocator.hpp"
#include "broker/partition.hpp"
#include "broker/request.hpp"
#include "broker/share_groups.hpp"
#include "common/fd.hpp"

#include <sys/socket.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::broker {

/// Server for shares of a partition: one packet per request and per answer, as JSON.
///
/// A share belongs to its connection and ends with it. The kernel identifies the client (SO_PEERCRED,
/// unix(7)).
class Server {
  public:
    /// Args:
    ///     partition: must outlive the server.
    ///     listening: listening socket of type SOCK_SEQPACKET.
    ///     ending: becomes readable when the server must end.
    Server(const Partition& partition, Fd listening, Fd ending);

    /// Serve until the end is requested, then end all shares. CPUs are released only after their groups are
    /// gone.
    void run();

  private:
    using Clock = std::chrono::steady_clock;

    struct PendingRequest {
        Request request;
        Clock::time_point received_at;
    };

    struct Peer {
        Fd socket;
        Owner owner;
        pid_t pid = 0;            // at the time of the connection
        int lease = 0;            // 0: none
        bool is_deleting = false; // no reservation is possible while this connection is open
        std::unique_ptr<ShareGroups> groups;
        std::optional<PendingRequest> pending; // not answered yet; no further request is read until then
    };

    /// Closed share whose groups may still contain processes.
    struct ClosingShare {
        int lease;
        std::unique_ptr<ShareGroups> groups;
        Clock::time_point since;
    };

    void accept_one();
    [[nodiscard]] std::vector<std::string> origins_of(int socket, const ucred& owner) const;
    bool receive(Peer& peer, Clock::time_point now); // false: the connection is over
    void close_connection(std::map<int, Peer>::iterator peer, Clock::time_point now);
    void close_ended_connections(Clock::time_point now); // connections that the client has closed
    void answer_pending(Clock::time_point now);
    [[nodiscard]] bool must_wait(const PendingRequest& pending) const;
    static bool send_answer(const Peer& peer, const std::string& answer); // false: the connection is over
    std::string answer(Peer& peer, const Request& request);
    std::string show(const Peer& peer) const;
    std::string begin_deletion(Peer& peer);
    std::string reserve(Peer& peer, const Share& share);
    std::string move(Peer& peer, pid_t pid, const std::vector<int>& cpus) const;
    void remove_closing_groups(); // as far as possible without waiting
    [[nodiscard]] bool any_recently_closed() const;
    [[nodiscard]] int pause_ms() const;

    const Partition& partition_;
    Fd listening_;
    Fd ending_;
    Allocator allocator_;
    std::map<int, Peer> peers_; // by descriptor
    std::deque<ClosingShare> closing_;
    int leases_ = 0; // number of leases so far
};

} // namespace assay::broker
