"""Words of sessions: their samples are trials, since no program is launched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Sample, StudySpec

_FORMS = {"launch": "trial", "launches": "trials", "launched": "tried"}
_LAUNCH = re.compile(r"\blaunch(?:es|ed)?\b", re.IGNORECASE)


@dataclass(frozen=True)
class SampleWords:
    """Words for the samples of a study.

    Attributes:
        in_process: true for a session, whose samples are trials; false for launches.
        own: texts of the user with a word for a launch, such as names and reasons.
    """

    in_process: bool
    own: tuple[str, ...] = ()

    @property
    def noun(self) -> tuple[str, str]:
        """Singular and plural of a sample."""
        return ("trial", "trials") if self.in_process else ("launch", "launches")

    def __call__(self, text: str) -> str:
        """Return a text on launches as one on the samples of the study.

        Texts of the user within it are unchanged.
        """
        if not self.in_process:
            return text
        if not self.own:
            return _LAUNCH.sub(_as_trial, text)
        pieces = re.split(f"({'|'.join(map(re.escape, self.own))})", text)
        pieces[::2] = [_LAUNCH.sub(_as_trial, piece) for piece in pieces[::2]]
        return "".join(pieces)


def sample_words(spec: StudySpec, samples: Sequence[Sample] = ()) -> SampleWords:
    """Return the words for the samples of a study.

    Args:
        spec: specification of the study.
        samples: samples with the names and reasons that texts may contain.
    """
    if not spec.in_process:
        return SampleWords(in_process=False)
    texts = {metric.name for metric in spec.workload.metrics} | set(spec.workload.argv)
    texts |= {parameter.name for parameter in spec.space.parameters}
    texts |= {sample.launch.arm for sample in samples}
    texts |= {sample.message for sample in samples if sample.message}
    own = sorted(filter(_LAUNCH.search, texts), key=len, reverse=True)
    return SampleWords(in_process=True, own=tuple(own))


def _as_trial(found: re.Match[str]) -> str:
    word = found[0]
    form = _FORMS[word.lower()]
    return form.capitalize() if word[0].isupper() else form
