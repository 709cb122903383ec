#pragma once

#include "common/fd.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/process/steps.hpp"

namespace assay {

/// Descriptor of the FIFO into which the program reports its progress, if the plan names one.
class ProgressChannel {
  public:
    /// Open the FIFO with the permissions of the caller. On failure return false and fill in `failure`.
    bool open(const Plan& plan, Failure& failure);
    /// Set the variables by which the program finds the FIFO. Their lengths depend on the path only.
    void publish(Plan& plan) const;
    /// Let the program inherit the descriptor.
    void add_to(Steps& steps) const;

  private:
    Fd fd_; // close-on-exec: only the program inherits it
    unsigned long long device_ = 0;
    unsigned long long inode_ = 0;
    bool inherited_ = false; // whether `fd_` has a number that the program can inherit
};

} // namespace assay
