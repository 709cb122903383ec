#pragma once

#include "broker/groups.hpp"
#include "broker/ledger.hpp"
#include "broker/partition.hpp"
#include "common/fd.hpp"

#include <sys/socket.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::broker {

/// Answers those who ask for shares of a partition; one packet a question, one an answer, as JSON.
///
/// A share belongs to the connection and ends with it. Who is at its other end is what the kernel says
/// (SO_PEERCRED, unix(7)).
class Server {
  public:
    /// Args:
    ///     partition: outlives the server.
    ///     listening: a listening socket of packets.
    ///     ending: becomes readable when the server is to end.
    Server(const Partition& partition, Fd listening, Fd ending);

    /// Serves until it is told to end; then all shares end. CPUs are nobody else's before the groups that had
    /// them are gone.
    void run();

  private:
    struct Peer {
        Fd socket;
        ucred who{};
        int lease = 0;        // 0: none
        bool deletes = false; // nobody is given anything more while this connection lasts
        std::unique_ptr<Groups> groups;
    };

    /// A share that was given back, and in whose groups something may still run.
    struct Leaving {
        int lease;
        std::unique_ptr<Groups> groups;
    };

    void accept_one();
    bool serve(Peer& peer); // false: the connection is over
    std::string answer(Peer& peer, std::string_view question);
    std::string show(const Peer& peer) const;
    std::string begin_deletion(Peer& peer);
    std::string reserve(Peer& peer, Share share);
    std::string move(Peer& peer, pid_t pid, const std::vector<int>& cpus) const;
    void release(Peer& peer);
    void see_off();     // those that leave, as far as it can be done at once
    void await_those(); // that have left a moment ago
    [[nodiscard]] int pause_ms() const;

    const Partition& partition_;
    Fd listening_;
    Fd ending_;
    Ledger ledger_;
    std::map<int, Peer> peers_; // by descriptor
    std::vector<Leaving> leaving_;
    int leases_ = 0; // ever given
};

} // namespace assay::broker
