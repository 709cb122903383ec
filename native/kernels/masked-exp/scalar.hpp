#pragma once

/// Local to each file that includes it.

#include "kernels/masked-exp/work.hpp"

#include <math.h>

#include <cstddef>

namespace {

using assay::kernels::Function;
using assay::kernels::Masked;

template <class F>
inline void each(const Masked& m, F f) {
    for (std::size_t i = 0; i < m.n; ++i) {
        if (m.x[i] > 0.0)
            m.y[i] = f(m.x[i]);
        else
            m.y[i] = 0.0;
    }
}

inline void scalar(const Masked& m) {
    switch (m.function) {
    case Function::exp:
        return each(m, [](double x) { return exp(x); });
    case Function::log:
        return each(m, [](double x) { return log(x); });
    case Function::sin:
        return each(m, [](double x) { return sin(x); });
    case Function::cos:
        return each(m, [](double x) { return cos(x); });
    case Function::acosh:
        return each(m, [](double x) { return acosh(x); });
    }
}

} // namespace
