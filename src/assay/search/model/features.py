"""Features: configurations as codes, as points of the unit cube, and as levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.records import Configuration
from assay.search.model.coding import Coding
from assay.search.model.encodings import encoding_of
from assay.search.space.search_space import SearchSpace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

MAX_KNOWN = 4096
"""Maximum number of configurations whose codes are kept: each block encodes the launched ones."""


class Features:
    """The columns of a space.

    Args:
        space: search space of the configurations.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._features = [encoding_of(space, name) for name in space.parameters]
        options = [space.options(name) for name in space.parameters]
        self.coding = Coding(self._features, options)
        # A cache: codes of a configuration never change.
        self._known: dict[Configuration, int] = {}
        self._codes: Array | None = None

    @property
    def settings(self) -> dict[str, slice]:
        """Columns of each parameter, by its name."""
        found, at = {}, 0
        for feature in self._features:
            found[feature.parameter.name] = slice(at, at + feature.width)
            at += feature.width
        return found

    def codes(self, configurations: Sequence[Configuration]) -> Array:
        """Return the codes of launched configurations, configurations x parameters."""
        import numpy as np

        missing = [c for c in dict.fromkeys(configurations) if c not in self._known]
        if len(missing) > MAX_KNOWN:
            return self.coding.codes(configurations)
        if self._codes is None or len(self._codes) + len(missing) > MAX_KNOWN:
            self._known.clear()
            self._codes, missing = None, list(dict.fromkeys(configurations))
        if missing:
            self._known.update({c: len(self._known) + i for i, c in enumerate(missing)})
            codes = self.coding.codes(missing)
            self._codes = codes if self._codes is None else np.vstack([self._codes, codes])
        places = [self._known[c] for c in configurations]
        assert self._codes is not None or not places
        return self.coding.codes(()) if self._codes is None else self._codes[places]

    def levels(self, configurations: Sequence[Configuration]) -> npt.NDArray[np.intp]:
        """Return the level number of each value, configurations x parameters."""
        return self.coding.levels(self.codes(configurations))

    def rows(self, configurations: Sequence[Configuration]) -> Array:
        """Return the encoded configurations, configurations x columns, each from 0 to 1."""
        return self.coding.rows(self.codes(configurations))
