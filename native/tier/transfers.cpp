#include "tier/transfers.hpp"

#include "tier/region.hpp"

#include <cstdint>

namespace assay::tier {

using State = Chunk::State;

namespace {

std::unique_ptr<Disk> disk_of(const Means& means, const Store& store) {
    return means.disk ? means.disk(store, means.depth) : any_disk(store, means.depth);
}

} // namespace

Transfers::Transfers(const Means& means)
    : store_(means.paths, means.chunk_bytes, means.address_bytes / means.chunk_bytes),
      disk_(disk_of(means, store_)) {}

const std::string& Transfers::path_of(const Chunk& chunk) const {
    return store_.path_of(chunk.region->position_of(chunk));
}

bool Transfers::start(Chunk& chunk, bool write) {
    if (!disk_->start({write, chunk.region->position_of(chunk), chunk.frame, chunk.bytes(),
                       reinterpret_cast<std::uint64_t>(&chunk)}))
        return false;
    ++chunk.region->transfers;
    ++count_;
    return true;
}

bool Transfers::read(Chunk& chunk) {
    if (!start(chunk, false)) return false;
    chunk.unasked = !chunk.waited;
    if (chunk.unasked) unasked_bytes_ += chunk.bytes();
    chunk.state = State::reading;
    return true;
}

bool Transfers::write(Chunk& chunk) {
    if (!start(chunk, true)) return false;
    writing_bytes_ += chunk.bytes();
    chunk.stored = true;
    chunk.state = State::leaving;
    return true;
}

bool Transfers::next(Ended& ended) {
    Disk::Ended one{};
    if (!disk_->next(one)) return false;
    Chunk& chunk = *reinterpret_cast<Chunk*>(one.transfer.tag); // NOLINT: a tag is a number
    --chunk.region->transfers;
    --count_;
    if (one.transfer.write)
        writing_bytes_ -= chunk.bytes();
    else if (chunk.unasked)
        unasked_bytes_ -= chunk.bytes();
    ended = {&chunk, one.transfer.write, one.error};
    return true;
}

} // namespace assay::tier
