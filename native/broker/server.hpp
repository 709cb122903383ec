#pragma once

#include "broker/groups.hpp"
#include "broker/ledger.hpp"
#include "broker/partition.hpp"
#include "broker/question.hpp"
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
    using Clock = std::chrono::steady_clock;

    struct Asked {
        Question question;
        Clock::time_point when;
    };

    struct Peer {
        Fd socket;
        Owner who;
        pid_t pid = 0;        // when the connection was made
        int lease = 0;        // 0: none
        bool deletes = false; // nobody is given anything more while this connection lasts
        std::unique_ptr<Groups> groups;
        std::optional<Asked> asked; // and not answered yet; nothing more is read until then
    };

    /// A share that was given back, and in whose groups something may still run.
    struct Leaving {
        int lease;
        std::unique_ptr<Groups> groups;
        Clock::time_point since;
    };

    void accept_one();
    [[nodiscard]] std::vector<std::string> origins_of(int socket, const ucred& who) const;
    bool receive(Peer& peer, Clock::time_point now); // false: the connection is over
    void hang_up(std::map<int, Peer>::iterator peer, Clock::time_point now);
    void dismiss(Clock::time_point now); // those who have hung up
    void answer_those_asked(Clock::time_point now);
    [[nodiscard]] bool waits(const Asked& asked) const;
    static bool tell(const Peer& peer, const std::string& answer); // false: the connection is over
    std::string answer(Peer& peer, const Question& question);
    std::string show(const Peer& peer) const;
    std::string begin_deletion(Peer& peer);
    std::string reserve(Peer& peer, const Share& share);
    std::string move(Peer& peer, pid_t pid, const std::vector<int>& cpus) const;
    void see_off(); // those that leave, as far as it can be done at once
    [[nodiscard]] bool any_left_lately() const;
    [[nodiscard]] int pause_ms() const;

    const Partition& partition_;
    Fd listening_;
    Fd ending_;
    Ledger ledger_;
    std::map<int, Peer> peers_; // by descriptor
    std::deque<Leaving> leaving_;
    int leases_ = 0; // ever given
};

} // namespace assay::broker
