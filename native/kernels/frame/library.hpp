#pragma once

#include <initializer_list>
#include <string>

namespace assay::kernels {

/// A library that is there or not, opened when it is first asked for and never closed.
///
/// It is not linked, so that one build of assay uses what each machine has. Its functions are declared where
/// they are used, as its own documentation gives them.
class Library {
  public:
    /// \param variable of the environment that names another file.
    /// \param names tried in this order.
    Library(const char* variable, std::initializer_list<const char*> names);

    /// A function or object; null where the library or the name is not there.
    [[nodiscard]] void* symbol(const char* name) const;

    template <class Function>
    [[nodiscard]] Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

    [[nodiscard]] bool there() const { return handle_ != nullptr; }
    /// Why it is not; a text that stays.
    [[nodiscard]] const char* reason() const { return reason_.c_str(); }
    /// The file that was opened.
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    void* handle_ = nullptr;
    std::string path_;
    std::string reason_;
};

} // namespace assay::kernels
