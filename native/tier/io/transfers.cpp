#include "tier/io/transfers.hpp"

#include "tier/memory/region.hpp"

#include <cstdint>
#include <utility>

namespace assay::tier {

using State = Chunk::State;

namespace {

/// Bytes that are on their way to a path at a time: enough for a disk to be busy.
constexpr std::size_t most_on_way = std::size_t{4} << 20U;

std::unique_ptr<Disk> disk_of(const Means& means, const Store& store) {
    return means.disk ? means.disk(store, means.depth) : any_disk(store, means.depth);
}

} // namespace

Transfers::Transfers(const Means& means)
    : store_(means.paths, means.chunk_bytes, means.address_bytes / means.chunk_bytes, means.keep_free),
      depth_(means.depth), disk_(disk_of(means, store_)), on_way_bytes_(means.paths.size()) {}

const std::string& Transfers::path_of(const Chunk& chunk) const {
    return store_.path_of(chunk.region->position_of(chunk));
}

std::size_t& Transfers::on_way_bytes(const Chunk& chunk) {
    return on_way_bytes_[store_.path_number(chunk.region->position_of(chunk))];
}

bool Transfers::start(Chunk& chunk, bool write) {
    return disk_->start({write, chunk.region->position_of(chunk), chunk.frame, chunk.bytes(),
                         reinterpret_cast<std::uint64_t>(&chunk)});
}

void Transfers::enter(const Chunk& chunk) {
    ++chunk.region->transfers;
    ++count_;
}

void Transfers::leave(const Chunk& chunk) {
    --chunk.region->transfers;
    --count_;
}

bool Transfers::read(Chunk& chunk) {
    if (!start(chunk, false)) return false;
    enter(chunk);
    chunk.unasked = !chunk.waited;
    if (chunk.unasked) unasked_bytes_ += chunk.bytes();
    chunk.state = State::reading;
    return true;
}

void Transfers::write(Chunk& chunk) {
    enter(chunk);
    writing_bytes_ += chunk.bytes();
    due_.add(chunk);
    chunk.state = State::due;
}

void Transfers::call_back(Chunk& chunk) {
    leave(chunk);
    writing_bytes_ -= chunk.bytes();
    due_.remove(chunk);
    chunk.state = State::staged;
}

void Transfers::begin() {
    for (Chunk* next = due_.front(); next != nullptr;) {
        Chunk& chunk = *std::exchange(next, next->after);
        std::size_t& bytes = on_way_bytes(chunk);
        if (bytes >= most_on_way) continue; // Those of other paths pass by.
        if (!start(chunk, true)) break;
        due_.remove(chunk);
        bytes += chunk.bytes();
        chunk.stored = true;
        chunk.state = State::leaving;
    }
    disk_->begin();
}

bool Transfers::next(Ended& ended) {
    Disk::Ended one{};
    if (!disk_->next(one)) return false;
    Chunk& chunk = *reinterpret_cast<Chunk*>(one.transfer.tag); // NOLINT: a tag is a number
    leave(chunk);
    if (one.transfer.write) {
        writing_bytes_ -= chunk.bytes();
        on_way_bytes(chunk) -= chunk.bytes();
    } else if (chunk.unasked) {
        unasked_bytes_ -= chunk.bytes();
    }
    ended = {&chunk, one.transfer.write, one.error};
    return true;
}

} // namespace assay::tier
