"""``assay study verify``: check of the data, verdicts and signature of a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.api.results.sentences import verdict_lines
from assay.cli.arguments.common import CommonOptions
from assay.cli.documents.study import (
    BrokenEntry,
    CheckedSignature,
    CheckedVerdict,
    StudyVerifyAnswer,
    VerdictDifference,
)
from assay.cli.show.json_output import print_json
from assay.records import to_builtins
from assay.requests.stored_study import VerifyRequest
from assay.search.space.labels import label_conclusion
from assay.units import show_count
from assay.untrusted import clean, clean_lines

if TYPE_CHECKING:
    from assay.bundle.read import BrokenBundleError
    from assay.bundle.signature import SignatureCheck
    from assay.bundle.verify import BundleCheck, VerdictCheck


def verify_file(request: VerifyRequest, options: CommonOptions) -> int:
    """Check a bundle, and its signature if one is given.

    Raises:
        InvalidInputError: the file is not a bundle.
        NotPossibleError: the file cannot be read.
    """
    from assay.bundle.read import BrokenBundleError
    from assay.bundle.signature import check_signature
    from assay.bundle.verify import verify

    path = Path(request.path)
    try:
        checked = verify(path)
    except BrokenBundleError as broken:
        if options.json:
            answer = StudyVerifyAnswer(bundle=str(path), holds=False, broken=_broken(broken))
            print_json(to_builtins(answer))
        else:
            print(f"{clean(str(path))}: verification failed")
            print(f"  {clean(broken.cause)}\n  {broken.remedy}")
        return 1
    signature: SignatureCheck | None = None
    if request.signature is not None and request.signer is not None:
        signature = check_signature(path, Path(request.signature), request.signer)
    status = 1 if signature is not None and not signature.good else checked.exit_status
    if options.json:
        print_json(to_builtins(_answer(path, checked, signature, status)))
    else:
        print("\n".join(map(clean_lines, _checked_lines(path, checked, signature, status))))
    return status


def _answer(
    path: Path, checked: BundleCheck, signature: SignatureCheck | None, status: int
) -> StudyVerifyAnswer:
    return StudyVerifyAnswer(
        bundle=str(path),
        study=checked.manifest.study,
        holds=status == 0,
        entries=checked.entries,
        head=checked.manifest.head,
        versions=checked.manifest.versions,
        verdicts=tuple(map(_verdict, checked.verdicts)),
        broken=None if checked.broken is None else _broken(checked.broken),
        signature=(
            None
            if signature is None
            else CheckedSignature(good=signature.good, description=signature.description)
        ),
    )


def _broken(broken: BrokenBundleError) -> BrokenEntry:
    return BrokenEntry(file=broken.file, entry=broken.entry, description=broken.description)


def _verdict(verdict: VerdictCheck) -> CheckedVerdict:
    found = verdict.difference
    return CheckedVerdict(
        stratum=verdict.stratum,
        samples=verdict.samples,
        holds=verdict.holds,
        difference=(
            None
            if found is None
            else VerdictDifference(
                key=found.key, recorded=found.recorded, recomputed=found.recomputed
            )
        ),
        error=verdict.error,
        recorded_versions=verdict.recorded_versions,
    )


def _checked_lines(
    path: Path, checked: BundleCheck, signature: SignatureCheck | None, status: int
) -> Iterator[str]:
    word = {0: "verified", 1: "verification failed"}.get(
        status, "cannot be checked by this version"
    )
    yield f"{path}: {word}"
    yield from _study_lines(checked)
    if checked.broken is not None:
        yield f"  changed  {checked.broken.cause}"
        yield "           assay has not checked the entries after it."
        yield f"           {checked.broken.remedy}"
    else:
        entries = show_count(checked.entries, "entry", "entries")
        yield f"  chain    {entries}, all unchanged"
        for verdict in checked.verdicts:
            yield from _verdict_lines(verdict)
            if verdict.holds and checked.study is not None:
                spec = checked.study.spec
                for sentence in verdict_lines(label_conclusion(spec, verdict.conclusion), spec):
                    yield f"           {sentence}"
        for number in checked.open_strata:
            yield f"  verdict  none of stratum {number}: the study had not finished it"
    if signature is not None:
        yield f"  signed   {signature.description}"
    elif checked.broken is None:
        yield "  signed   not checked: the chain detects edits, only a signature proves the author"


def _study_lines(checked: BundleCheck) -> Iterator[str]:
    versions = checked.manifest.versions
    made = f"measured by assay {versions.get('measured_by', '?')}"
    if checked.study is None:
        yield f"  study    {checked.manifest.study}, {made}"
        return
    spec = checked.study.spec
    yield f"  study    {checked.study.id}: {spec.kind}, {checked.study.status}, {made}"
    yield f"  command  {spec.command_line}"


def _verdict_lines(verdict: VerdictCheck) -> Iterator[str]:
    count = show_count(verdict.samples, "sample", "samples")
    if verdict.of_samples > verdict.samples:
        count = f"first {count} of {verdict.of_samples}"
    about = f"of stratum {verdict.stratum}"
    if verdict.holds:
        also = ""
        if verdict.recorded_versions:
            made = ", ".join(
                f"{name} {version}" for name, version in verdict.recorded_versions.items()
            )
            also = f", also by this version (the study used {made})"
        yield f"  verdict  {about}: follows from its {count}{also}"
        return
    found = verdict.difference
    if found is None:
        yield f"  verdict  {about}: cannot be computed from its {count}: {verdict.error}"
    else:
        yield f"  verdict  {about}: does not follow from its {count}"
        yield f"           {found.key}"
        yield f"             bundle contains   {found.recorded}"
        yield f"             its samples give  {found.recomputed}"
    if verdict.recorded_versions:
        yield f"           Another version may be the reason: {verdict.remedy}"
