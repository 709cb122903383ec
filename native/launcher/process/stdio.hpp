#pragma once

#include "common/fd.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/process/steps.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Files of the plan for standard input, output and error.
class Stdio {
  public:
    /// Open the files. On failure return false and fill in `failure`.
    bool open(const Plan& plan, Failure& failure);
    void add_to(Steps& steps, const Plan& plan) const;
    [[nodiscard]] std::vector<int> outputs() const;

  private:
    static bool open_one(const std::optional<std::string>& path, int flags, const char* stage, Fd& fd,
                         const Plan& plan, Failure& failure);

    Fd in_;
    Fd out_;
    Fd err_;
};

} // namespace assay
