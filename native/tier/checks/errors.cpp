/// Test of a failing disk.
///
///     assay-tier-errors --path DIR read|write|writes|lost
///
/// read: one chunk is unreadable; accessing it raises SIGBUS, and nothing else does. write: a few chunks
/// cannot be written; all data remain correct. writes: no chunk can be written; the program aborts with a
/// message. lost: writes are acknowledged and lost; the content is detected to be wrong.

#include "tier/pager/pager.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

namespace {

using namespace assay::tier;

constexpr std::size_t chunk = std::size_t{64} << 10;

/// Disk on which some transfers fail.
class FailingDisk final : public Disk {
  public:
    FailingDisk(std::unique_ptr<Disk> disk, std::string how) : disk_(std::move(disk)), how_(std::move(how)) {}

    [[nodiscard]] bool start(const Transfer& transfer) override { return disk_->start(transfer); }
    void submit() override { disk_->submit(); }
    [[nodiscard]] int ready() const override { return disk_->ready(); }

    [[nodiscard]] bool next(Completed& ended) override {
        if (!disk_->next(ended)) return false;
        const bool write = ended.transfer.write;
        if (how_ == "read" && !write && ended.transfer.position == 3 * chunk) ended.error = EIO;
        if (how_ == "write" && write && writes_++ % 8 == 7 && failed_++ < 3) ended.error = EIO;
        if (how_ == "writes" && write) ended.error = ENOSPC;
        // Simulates a disk that has lost a write: reads return other data.
        if (how_ == "lost" && !write) std::memset(ended.transfer.memory, 0, 8);
        return true;
    }

  private:
    std::unique_ptr<Disk> disk_;
    std::string how_;
    int writes_ = 0, failed_ = 0;
};

int run(const std::string& path, const std::string& how) {
    constexpr std::size_t chunks = 64;
    const PagerConfig config{.paths = {path},
                             .memory_bytes = 16 * chunk,
                             .chunk_bytes = chunk,
                             .min_bytes = chunk,
                             .disk = [&how](const Store& store, unsigned depth) -> std::unique_ptr<Disk> {
                                 return std::make_unique<FailingDisk>(threads_disk(store, depth, 2), how);
                             }};
    Pager pager(config);
    std::byte* const all = sys::map(chunks * chunk + chunk);
    std::byte* const at = aligned(all, chunk);
    Region* const region = pager.add(at, chunks * chunk);
    if (region == nullptr) return 2;
    auto* const words = reinterpret_cast<std::uint64_t*>(at);
    constexpr std::size_t count = chunks * chunk / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; ++i) words[i] = i + 1;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += words[i] != i + 1;
    std::printf("{\"wrong\":%zu}\n", wrong);
    pager.remove(*region);
    sys::unmap(all, chunks * chunk + chunk);
    return wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4 || std::string(argv[1]) != "--path") {
        std::fputs("usage: assay-tier-errors --path DIR read|write|writes|lost\n", stderr);
        return 2;
    }
    try {
        return run(argv[2], argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
