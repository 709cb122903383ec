#pragma once

/// Before a function that programs see; nothing else of a library is.
#define ASSAY_TIER_EXPORT extern "C" [[gnu::visibility("default")]]
