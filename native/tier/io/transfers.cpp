#include "tier/io/transfers.hpp"

#include "tier/memory/region.hpp"

#include <cstdint>
#include <utility>

namespace assay::tier {

using State = Chunk::State;

namespace {

/// Bytes in flight to a path: enough to keep a disk busy.
constexpr std::size_t max_in_flight = std::size_t{4} << 20U;

std::unique_ptr<Disk> disk_of(const PagerConfig& config, const Store& store) {
    return config.disk ? config.disk(store, config.depth) : any_disk(store, config.depth);
}

} // namespace

Transfers::Transfers(const PagerConfig& config)
    : store_(config.paths, config.chunk_bytes, config.address_bytes / config.chunk_bytes, config.keep_free),
      depth_(config.depth), disk_(disk_of(config, store_)), in_flight_bytes_(config.paths.size()) {}

const std::string& Transfers::path_of(const Chunk& chunk) const {
    return store_.path_of(chunk.region->position_of(chunk));
}

std::size_t& Transfers::in_flight_bytes(const Chunk& chunk) {
    return in_flight_bytes_[store_.path_number(chunk.region->position_of(chunk))];
}

bool Transfers::start(Chunk& chunk, bool write) {
    return disk_->start({write, chunk.region->position_of(chunk), chunk.frame, chunk.bytes(),
                         reinterpret_cast<std::uint64_t>(&chunk)});
}

void Transfers::add_in_flight(const Chunk& chunk) {
    ++chunk.region->transfers;
    ++count_;
}

void Transfers::remove_in_flight(const Chunk& chunk) {
    --chunk.region->transfers;
    --count_;
}

bool Transfers::read(Chunk& chunk) {
    if (!start(chunk, false)) return false;
    add_in_flight(chunk);
    chunk.is_prefetch = !chunk.has_waiter;
    if (chunk.is_prefetch) prefetch_bytes_ += chunk.bytes();
    chunk.state = State::reading;
    return true;
}

void Transfers::write(Chunk& chunk) {
    add_in_flight(chunk);
    writing_bytes_ += chunk.bytes();
    write_queue_.add(chunk);
    chunk.state = State::write_queued;
}

void Transfers::cancel_write(Chunk& chunk) {
    remove_in_flight(chunk);
    writing_bytes_ -= chunk.bytes();
    write_queue_.remove(chunk);
    chunk.state = State::unmapped;
}

void Transfers::submit() {
    for (Chunk* next = write_queue_.front(); next != nullptr;) {
        Chunk& chunk = *std::exchange(next, next->next);
        std::size_t& bytes = in_flight_bytes(chunk);
        if (bytes >= max_in_flight) continue; // Writes to other paths may overtake it.
        if (!start(chunk, true)) break;
        write_queue_.remove(chunk);
        bytes += chunk.bytes();
        chunk.stored = true;
        chunk.state = State::writing;
    }
    disk_->submit();
}

bool Transfers::next(Completed& ended) {
    Disk::Completed one{};
    if (!disk_->next(one)) return false;
    Chunk& chunk = *reinterpret_cast<Chunk*>(one.transfer.tag); // NOLINT: a tag is a number
    remove_in_flight(chunk);
    if (one.transfer.write) {
        writing_bytes_ -= chunk.bytes();
        in_flight_bytes(chunk) -= chunk.bytes();
    } else if (chunk.is_prefetch) {
        prefetch_bytes_ -= chunk.bytes();
    }
    ended = {&chunk, one.transfer.write, one.error};
    return true;
}

} // namespace assay::tier
