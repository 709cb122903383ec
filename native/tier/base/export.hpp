#pragma once

/// Marks a function as exported; the libraries hide all other symbols.
#define ASSAY_TIER_EXPORT extern "C" [[gnu::visibility("default")]]
