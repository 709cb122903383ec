#pragma once

#include <initializer_list>
#include <string>

namespace assay::kernels {

/// An optional library, opened at first use and never closed.
///
/// It is not linked, so that one build of assay uses the libraries of each machine. Users of its functions
/// declare them as in its documentation.
class Library {
  public:
    /// \param variable environment variable that names another file. \param names file names to try, in this
    /// order.
    Library(const char* variable, std::initializer_list<const char*> names);

    /// Return a function or object, or null if the library or the name is missing.
    [[nodiscard]] void* symbol(const char* name) const;

    template <class Function>
    [[nodiscard]] Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

    [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
    /// Return the reason why it is not available. The string is valid as long as the library.
    [[nodiscard]] const char* reason() const { return reason_.c_str(); }
    /// Return the opened file.
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    void* handle_ = nullptr;
    std::string path_;
    std::string reason_;
};

} // namespace assay::kernels
