#include "kernels/frame/blas.hpp"

#include "kernels/frame/threads.hpp"

#include <utility>

namespace assay::kernels {

namespace {

// Types of the C interface of the BLAS (https://www.netlib.org/blas/#_cblas).
constexpr int column_major = 102;
constexpr int as_it_is = 111;
constexpr int transpose = 112;

template <class Int>
using Gemm = void(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int, double,
                  double*, Int);
template <class Int>
using Gemv = void(int, int, Int, Int, double, const double*, Int, const double*, Int, double, double*, Int);

template <class Int>
Int size(std::size_t count) {
    return static_cast<Int>(count);
}

/// A leading dimension is at least one.
template <class Int>
Int leading(std::size_t count) {
    return count ? static_cast<Int>(count) : Int{1};
}

template <class Int>
void call_gemm(void* function, std::size_t m, std::size_t n, std::size_t k, const double* a, const double* b,
               double beta, double* c) {
    reinterpret_cast<Gemm<Int>*>(function)(column_major, as_it_is, as_it_is, size<Int>(m), size<Int>(n),
                                           size<Int>(k), 1.0, a, leading<Int>(m), b, leading<Int>(k), beta, c,
                                           leading<Int>(m));
}

template <class Int>
void call_gemv(void* function, int how, std::size_t m, std::size_t n, double alpha, const double* a,
               std::size_t down, const double* x, double beta, double* y) {
    reinterpret_cast<Gemv<Int>*>(function)(column_major, how, size<Int>(m), size<Int>(n), alpha, a,
                                           leading<Int>(down), x, 1, beta, y, 1);
}

} // namespace

Blas::Blas(const Names& names, Library opened)
    : library_(std::move(opened)), before_(names.before), after_(names.after), wide_(names.wide) {
    if (!library_.is_loaded()) {
        reason_ = library_.reason();
        return;
    }
    gemm_ = reinterpret_cast<void*>(function<void()>("cblas_dgemm"));
    gemv_ = reinterpret_cast<void*>(function<void()>("cblas_dgemv"));
    if (!gemm_ || !gemv_) {
        reason_ =
            library_.path() + " has no C interface of the BLAS (" + before_ + "cblas_dgemm" + after_ + ")";
        return;
    }
    std::string version, core;
    if (auto* const config = function<const char*()>("openblas_get_config")) {
        // "OpenBLAS 0.3.21 NO_LAPACKE ...".
        const std::string text = config();
        version = text.substr(0, text.find(' ', text.find(' ') + 1));
        if (auto* const name = function<const char*()>("openblas_get_corename")) core = name();
        set_threads_ = function<void(int)>("openblas_set_num_threads");
    } else if (auto* const number = function<const char*()>("bli_info_get_version_str")) {
        version = std::string("BLIS ") + number();
        auto* const query = function<int()>("bli_arch_query_id");
        auto* const name = function<const char*(int)>("bli_arch_string");
        if (query && name) core = name(query());
        set_ways_ = function<void(std::int64_t)>("bli_thread_set_num_threads");
    }
    version_ = (version.empty() ? names.title : version) + (core.empty() ? "" : ", core " + core) + ", " +
               library_.path();
}

void Blas::use_threads() const {
    const int team = threads();
    if (set_threads_) set_threads_(team);
    if (set_ways_) set_ways_(team);
}

void Blas::gemm(std::size_t m, std::size_t n, std::size_t k, const double* a, const double* b, double beta,
                double* c) const {
    if (wide_)
        call_gemm<std::int64_t>(gemm_, m, n, k, a, b, beta, c);
    else
        call_gemm<int>(gemm_, m, n, k, a, b, beta, c);
}

void Blas::gemv(bool transposed, std::size_t m, std::size_t n, double alpha, const double* a,
                std::size_t down, const double* x, double beta, double* y) const {
    const int how = transposed ? transpose : as_it_is;
    if (wide_)
        call_gemv<std::int64_t>(gemv_, how, m, n, alpha, a, down, x, beta, y);
    else
        call_gemv<int>(gemv_, how, m, n, alpha, a, down, x, beta, y);
}

const Blas& openblas() {
    static const Blas opened({"OpenBLAS", "", "", false},
                             Library("ASSAY_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"}));
    return opened;
}

const Blas& openblas64() {
    static const Blas opened({"OpenBLAS", "scipy_", "64_", true},
                             Library("ASSAY_OPENBLAS64", {"libscipy_openblas64_.so"}));
    return opened;
}

const Blas& blis() {
#ifdef ASSAY_SANITIZED
    // The leak checker crashes while it inspects the threads that BLIS started.
    static const Blas opened({"BLIS", "", "", false}, Library("ASSAY_BLIS", {"(not with sanitizers)"}));
#else
    static const Blas opened({"BLIS", "", "", false}, Library("ASSAY_BLIS", {"libblis.so.4", "libblis.so"}));
#endif
    return opened;
}

} // namespace assay::kernels
