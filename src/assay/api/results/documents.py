"""Results as JSON documents; scripts rely on their keys (docs/reference/cli.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.bundle.document import sample_documents
from assay.records import (
    ArmResult,
    Claim,
    Conclusion,
    FrontPoint,
    Kind,
    MachineFloor,
    Sample,
    StudySpec,
    to_builtins,
)
from assay.search.conclusion.cells import baseline_point
from assay.search.model.explanation import Explanation, SettingEffect
from assay.study.result import StudyResult
from assay.wording.endings import shown_ending
from assay.wording.noise_floor import day
from assay.wording.proof import proof_command


def result_document(result: StudyResult, samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the document of a measuring verb, for ``write_json``: samples are an iterator."""
    conclusion = result.conclusion
    match conclusion.kind:
        case Kind.TUNE:
            document = _tune(result)
        case Kind.COMPARE:
            document = _compare(conclusion)
        case Kind.MEASURE:
            document = {
                "summary": summary(conclusion.arms[0]),
                **_disturbed(conclusion.arms[0]),
                **_modes(conclusion.arms[0]),
                "samples": sample_documents(result.spec, samples),
            }
        case Kind.SWEEP:
            document = _sweep(conclusion, result.spec)
        case Kind.CALIBRATE:
            document = _calibrate(conclusion)
    if conclusion.requirements:
        document["requirements"] = [to_builtins(one) for one in conclusion.requirements]
    blocks = {"blocks": conclusion.blocks, "disturbed_blocks": conclusion.disturbed_blocks}
    if conclusion.disturbers:
        document["disturbers"] = [to_builtins(one) for one in conclusion.disturbers]
    if result.floor is not None:
        document["noise_floor"] = _machine_floor(result.floor)
    if conclusion.cross_environment is not None:
        document["cross_environment"] = to_builtins(conclusion.cross_environment)
    if conclusion.interference is not None:
        document["interference"] = to_builtins(conclusion.interference)
    if conclusion.fidelity is not None:
        document["fidelity"] = to_builtins(conclusion.fidelity)
    if conclusion.switching is not None:
        document["switching"] = to_builtins(conclusion.switching)
    if conclusion.kernels is not None:
        document["kernels"] = to_builtins(conclusion.kernels)
    return {"study": result.study_id, **document, **blocks, "notes": list(result.notes)}


def _tune(result: StudyResult) -> dict[str, Any]:
    conclusion = result.conclusion
    recommendation = conclusion.recommendation
    assert recommendation is not None
    document: dict[str, Any] = {
        "metric": conclusion.metric,
        "default": {
            "summary": summary(conclusion.arms[0]),
            **_disturbed(conclusion.arms[0]),
        },
        "recommendation": {
            "status": str(recommendation.status),
            "settings": dict(recommendation.settings),
            "sentence": recommendation.sentence,
            "script": recommendation.script,
        },
        "launches": conclusion.launches,
        "elapsed_s": round(result.elapsed_s, 3),
        "configurations": conclusion.configurations,
        "stop_reason": shown_ending(
            conclusion.stop_reason, result.study_id, in_process=result.spec.in_process
        ),
    }
    if recommendation.claim is not None:
        document["recommendation"]["claim"] = claim(recommendation.claim)
    if conclusion.claims and not result.spec.objectives:
        document["claims"] = [claim(found) for found in conclusion.claims]
    if recommendation.output_difference is not None:
        document["recommendation"]["output_difference"] = recommendation.output_difference
    if recommendation.expected is not None:
        document["recommendation"]["expected"] = to_builtins(recommendation.expected)
    if recommendation.proof is not None:
        proof = to_builtins(recommendation.proof)
        proof["command"] = proof_command(result.study_id, result.spec.budget, recommendation.proof)
        document["recommendation"]["proof"] = proof
    if result.explanation is not None:
        document["explanation"] = explanation_document(result.explanation)
    document |= warm_start_document(result.spec, conclusion.warm_start)
    if result.spec.objectives:
        document |= front_document(conclusion, result.spec)
    return document | _noise_floor(conclusion)


def _compare(conclusion: Conclusion) -> dict[str, Any]:
    return {
        "metric": conclusion.metric,
        "arms": [
            {"name": arm.name, "summary": summary(arm), **_disturbed(arm), **_modes(arm)}
            for arm in conclusion.arms
        ],
        "claims": [claim(found) for found in conclusion.claims],
        **({"steps": [claim(found) for found in conclusion.steps]} if conclusion.steps else {}),
        "launches": conclusion.launches,
        "stop_reason": conclusion.stop_reason,
    } | _noise_floor(conclusion)


def _calibrate(conclusion: Conclusion) -> dict[str, Any]:
    document = _compare(conclusion)
    del document["claims"]
    if conclusion.calibration is not None:
        document["calibration"] = to_builtins(conclusion.calibration)
    return document


def _sweep(conclusion: Conclusion, spec: StudySpec) -> dict[str, Any]:
    return {
        "metric": conclusion.metric,
        "baseline": baseline_document(spec),
        "cells": [
            {
                "name": arm.name,
                "settings": dict(arm.configuration),
                "summary": summary(arm),
                "failures": arm.failures,
                "timeouts": arm.timeouts,
                **_disturbed(arm),
            }
            for arm in conclusion.arms
        ],
        "claims": [claim(found) for found in conclusion.claims],
        "effects": [to_builtins(found) for found in conclusion.effects],
        "launches": conclusion.launches,
        "stop_reason": conclusion.stop_reason,
    } | _noise_floor(conclusion)


def baseline_document(spec: StudySpec) -> dict[str, Any]:
    """Return the baseline cell, with the default values of unset settings."""
    first = spec.arms[0]
    return {"name": first.name, "settings": baseline_point(first.configuration, spec.space)}


def _noise_floor(conclusion: Conclusion) -> dict[str, Any]:
    if conclusion.noise_floor is None:
        return {}
    return {"noise_floor": {"ratio_ci": list(conclusion.noise_floor.ci)}}


def _machine_floor(floor: MachineFloor) -> dict[str, Any]:
    """Return a noise floor that another study measured."""
    origin = {"study": floor.study, "date": day(floor.started_at), "command": floor.command}
    return {"ratio_ci": list(floor.ci), "calibrated": origin}


def _disturbed(arm: ArmResult) -> dict[str, Any]:
    """Return the number of launches in disturbed blocks; without a key if there are none."""
    return {"disturbed_launches": arm.disturbed_launches} if arm.disturbed_launches else {}


def _modes(arm: ArmResult) -> dict[str, Any]:
    return {"modes": to_builtins(arm.modes)} if arm.modes else {}


def summary(arm: ArmResult) -> dict[str, Any]:
    """Return the summaries of an arm by metric, ``wall_s`` first."""
    names = sorted(arm.summary, key=lambda name: (name != "wall_s", name))
    return {name: to_builtins(arm.summary[name]) for name in names}


def claim(found: Claim) -> dict[str, Any]:
    """Return a claim as a document; an open end of the interval is null."""
    document: dict[str, Any] = to_builtins(found)
    return document


def named_document(spec: StudySpec) -> dict[str, Any]:
    """Return the named configurations; without a key if there are none."""
    named = {one.name: dict(one.configuration) for one in spec.space.named_configurations}
    return {"configurations": named} if named else {}


def warm_start_document(spec: StudySpec, sentence: str = "") -> dict[str, Any]:
    """Return the earlier studies that guide the search; without a key if there are none."""
    if not spec.earlier_studies:
        return {}
    studies = [
        {
            "study": one.study,
            "command": one.command,
            "same_workload": one.same_workload,
            "configurations": len(one.known_configurations),
            "unused_configurations": one.unused_configurations,
            "launches": one.launches,
        }
        for one in spec.earlier_studies
    ]
    return {"warm_start": {"studies": studies, **({"sentence": sentence} if sentence else {})}}


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as a document."""
    return {
        "launches": explanation.launches,
        "setting_effects": _shares(explanation.parts),
        "interactions": _shares(explanation.interactions),
        "average_effects": _shares(explanation.trends),
        "launched_combinations": explanation.tried,
        "untried_ratio_bound": explanation.untried_ratio_bound,
    }


def _shares(shares: Sequence[SettingEffect]) -> list[dict[str, Any]]:
    return [{"settings": dict(s.settings), "ratio": s.ratio, "ci": list(s.ci)} for s in shares]


def front_document(conclusion: Conclusion, spec: StudySpec) -> dict[str, Any]:
    """Return the front as a document."""
    return {
        "objectives": list(spec.objectives),
        "pareto_front": [
            {"number": number, **_point(point), "script": point.script}
            for number, point in enumerate(conclusion.pareto_front, 1)
        ],
        "excluded_points": [
            {
                **_point(point),
                "exclusion": str(point.exclusion),
                **({"dominated_by": point.dominated_by} if point.dominated_by else {}),
            }
            for point in conclusion.excluded_points
        ],
    }


def _point(point: FrontPoint) -> dict[str, Any]:
    return {
        "name": point.name,
        "settings": dict(point.settings),
        "claims": [to_builtins(claim) for claim in point.claims],
    }
