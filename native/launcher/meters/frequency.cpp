#include "launcher/meters/frequency.hpp"

#include "common/cpulist.hpp"
#include "common/fd.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace assay {

namespace {

// IA32_MPERF and IA32_APERF; the file offset is the register number (msr(4)).
constexpr off_t mperf_register = 0xE7;
constexpr off_t aperf_register = 0xE8;

std::optional<std::uint64_t> read_register(const Fd& fd, off_t number) {
    std::uint64_t value = 0;
    if (::pread(fd.get(), &value, sizeof value, number) != sizeof value) return std::nullopt;
    return value;
}

constexpr std::size_t max_cpus = 16;

} // namespace

FrequencyMeter::FrequencyMeter(const std::string& root, const std::vector<int>& cpus)
    : root_(root), cpus_(spread(cpus, max_cpus)) {}

std::optional<FrequencyMeter::Registers> FrequencyMeter::total() const {
    Registers sum;
    for (const int cpu : cpus_) {
        const Fd fd{
            ::open((root_ + "/dev/cpu/" + std::to_string(cpu) + "/msr").c_str(), O_RDONLY | O_CLOEXEC)};
        const auto mperf = fd ? read_register(fd, mperf_register) : std::nullopt;
        const auto aperf = mperf ? read_register(fd, aperf_register) : std::nullopt;
        if (!aperf) return std::nullopt;
        sum.aperf += *aperf;
        sum.mperf += *mperf;
    }
    return sum;
}

std::optional<double> FrequencyMeter::ratio() const {
    const auto after = before_ ? total() : std::nullopt;
    if (!after || after->mperf == before_->mperf) return std::nullopt;
    return static_cast<double>(after->aperf - before_->aperf) /
           static_cast<double>(after->mperf - before_->mperf);
}

} // namespace assay
