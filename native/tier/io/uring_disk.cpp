#include "tier/base/event.hpp"
#include "tier/io/disk.hpp"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay::tier {

namespace {

/// Disk on io_uring. Buffers are not registered, because their pages cannot be moved (EBUSY, Linux 6.18).
class UringDisk final : public Disk {
  public:
    UringDisk(const Store& store, unsigned depth) : store_(store), in_flight_(depth), free_slots_(depth) {
        if (const int status = ::io_uring_queue_init(depth, &ring_, 0); status != 0)
            throw std::system_error(-status, std::generic_category(), "io_uring");
        if (const int status = ::io_uring_register_eventfd(&ring_, event_.fd()); status != 0) {
            ::io_uring_queue_exit(&ring_);
            throw std::system_error(-status, std::generic_category(), "io_uring with an eventfd");
        }
        for (unsigned i = 0; i < depth; ++i) {
            in_flight_.add();
            free_slots_.add(depth - 1 - i);
        }
    }
    UringDisk(const UringDisk&) = delete;
    UringDisk& operator=(const UringDisk&) = delete;
    ~UringDisk() override { ::io_uring_queue_exit(&ring_); }

    [[nodiscard]] bool start(const Transfer& transfer) override {
        if (free_slots_.empty()) return false;
        const unsigned slot = free_slots_.take_last();
        in_flight_[slot] = {transfer, 0};
        queue(slot);
        return true;
    }

    void submit() override {
        if (queued_ == 0) return;
        // EAGAIN and EBUSY: the kernel lacks memory or space for completions; the entries remain queued.
        const int begun = ::io_uring_submit(&ring_);
        if (begun > 0) queued_ -= std::min(queued_, static_cast<unsigned>(begun));
    }
    [[nodiscard]] bool is_behind() const override { return queued_ > 0; }

    [[nodiscard]] int ready() const override { return event_.fd(); }

    [[nodiscard]] bool next(Completed& ended) override {
        io_uring_cqe* answer = nullptr;
        while (::io_uring_peek_cqe(&ring_, &answer) == 0) {
            const auto slot = static_cast<unsigned>(::io_uring_cqe_get_data64(answer));
            const int result = answer->res;
            ::io_uring_cqe_seen(&ring_, answer);
            InFlight& transfer_state = in_flight_[slot];
            const bool again = result == -EINTR || result == -EAGAIN;
            if (result > 0) transfer_state.done += static_cast<std::size_t>(result);
            if (again || (result > 0 && transfer_state.done < transfer_state.transfer.bytes)) {
                queue(slot);
                continue;
            }
            // A file that ends within a chunk has lost its content.
            ended = {transfer_state.transfer, result < 0 ? -result : result == 0 ? EIO : 0};
            free_slots_.add(slot);
            return true;
        }
        // Clear the event last: later completions signal it again.
        return event_.clear() && next(ended);
    }

  private:
    struct InFlight {
        Transfer transfer;
        std::size_t done;
    };

    void queue(unsigned slot) {
        const InFlight& transfer_state = in_flight_[slot];
        const Transfer& t = transfer_state.transfer;
        io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_); // There is an entry for each slot.
        std::byte* const at = t.memory + transfer_state.done;
        const auto bytes = static_cast<unsigned>(t.bytes - transfer_state.done);
        const std::uint64_t offset = store_.offset_of(t.position) + transfer_state.done;
        if (t.write)
            ::io_uring_prep_write(entry, store_.file_of(t.position), at, bytes, offset);
        else
            ::io_uring_prep_read(entry, store_.file_of(t.position), at, bytes, offset);
        ::io_uring_sqe_set_data64(entry, slot);
        ++queued_;
    }

    const Store& store_;
    Event event_;
    io_uring ring_{};
    Table<InFlight> in_flight_;
    Table<unsigned> free_slots_;
    unsigned queued_ = 0;
};

} // namespace

int uring_error() {
    io_uring ring{};
    const int status = ::io_uring_queue_init(1, &ring, 0);
    if (status == 0) ::io_uring_queue_exit(&ring);
    return -status;
}

std::unique_ptr<Disk> uring_disk(const Store& store, unsigned depth) {
    return std::make_unique<UringDisk>(store, depth);
}

} // namespace assay::tier
