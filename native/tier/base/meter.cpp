#include "tier/base/meter.hpp"

#include "tier/base/file_size.hpp"

#include <sys/syscall.h>

#include <cstring>
#include <new>

namespace assay::tier {

Counts& Counts::operator+=(const Counts& more) {
    zero_fill_faults += more.zero_fill_faults;
    demand_faults += more.demand_faults;
    in_flight_faults += more.in_flight_faults;
    prefetch_hits += more.prefetch_hits;
    second_chance_hits += more.second_chance_hits;
    unused_prefetches += more.unused_prefetches;
    clean_evictions += more.clean_evictions;
    read_bytes += more.read_bytes;
    written_bytes += more.written_bytes;
    stall_ns += more.stall_ns;
    return *this;
}

Meter::Meter(std::size_t max, std::size_t dram_bytes, std::size_t chunk_bytes, Engine engine)
    : bytes_(whole_pages(sizeof(Header) + max * sizeof(Entry))),
      file_(static_cast<int>(::syscall(SYS_memfd_create, "assay-tier", 1U /* MFD_CLOEXEC */))), free_(max) {
    // Without memfd_create(2) (seccomp) the counters are private to this process.
    const bool shared = file_ && set_file_size(file_.get(), bytes_);
    const int flags = MAP_SHARED | (shared ? 0 : MAP_ANONYMOUS);
    const int file = shared ? file_.get() : -1;
    const long at = ::syscall(SYS_mmap, nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file, 0L);
    if (at == -1) throw std::bad_alloc();
    head_ = reinterpret_cast<Header*>(at); // NOLINT: the kernel gives a number
    // A child process counts its own regions.
    sys::advise(head_, bytes_, MADV_DONTFORK);
    *head_ = {.magic = {},
              .pid = static_cast<std::uint64_t>(::getpid()),
              .dram_bytes = dram_bytes,
              .chunk_bytes = chunk_bytes,
              .engine = engine,
              .entries = 0,
              .ended = {}};
    std::memcpy(head_->magic, "assay-t3", sizeof head_->magic);
}

Meter::~Meter() {
    if (head_ != nullptr) sys::unmap(head_, bytes_);
}

Meter::Entry& Meter::begin(const std::byte* base, std::size_t bytes) {
    Entry& entry = free_.empty() ? entries()[head_->entries++] : *free_.take_last();
    entry = {.base = reinterpret_cast<std::uint64_t>(base), .bytes = bytes, .held_bytes = 0, .counts = {}};
    return entry;
}

Counts Meter::counts() const {
    Counts all = head_->ended;
    for (std::size_t i = 0; i < head_->entries; ++i) all += entries()[i].counts;
    return all;
}

void Meter::end(Entry& entry) {
    head_->ended += entry.counts;
    entry = {};
    free_.add(&entry);
}

} // namespace assay::tier
