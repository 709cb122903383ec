"""Contract tests of a store, which each backend must pass.

A backend's tests derive from :class:`StoreContract`, as Optuna's storages do from its
``StorageTestCase``; any test runner that collects classes runs them, and the module imports none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.records import (
    Arm,
    ArmResult,
    Budget,
    Choices,
    Claim,
    Conclusion,
    Configuration,
    EnvSet,
    Evidence,
    Grant,
    GrantStatus,
    Kind,
    Launch,
    Level,
    Metric,
    Outcome,
    Output,
    Parameter,
    Plan,
    Recommendation,
    Sample,
    Space,
    Stage,
    Status,
    Stratum,
    StudySpec,
    Summary,
    Verdict,
    Workload,
    decode,
)
from assay.records.overhead import Cost, ObservedCost, Overhead
from assay.records.sample_decoder import decode_once
from assay.store.base import Store, StudySelection


def tune_spec(*argv: str) -> StudySpec:
    """Return a study to tune ``argv`` by a figure read from its output."""
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(
            argv=argv or ("./solve", "--size", "{n}", "naïve name"),
            placeholders={"n": "100"},
            metrics=(Metric(name="rate", unit="1/s", pattern=r"rate=([0-9.]+)"),),
        ),
        space=Space(
            parameters=(Parameter(name="threads", domain=Choices(options=(1, 2))),),
            constraints=("threads > 0",),
        ),
        budget=Budget(time_s=60.0),
        seed=7,
    )


def _with_host(number: int) -> Stratum:
    return msgspec.structs.replace(make_stratum(number), host={"arch": "x86_64"})


def make_stratum(number: int = 0) -> Stratum:
    """Return the conditions of one session."""
    return Stratum(
        number=number,
        program_digest="sha256:00",
        kernel="6.1.0",
        cpus=(0, 1),
        default_state={"thp": "madvise"},
        assay_version="0.1.0",
        machine=f"machine-{number}",
    )


def make_sample(block: int = 0, position: int = 0, attempt: int = 0, rate: float = 2.5) -> Sample:
    """Return a sample with a value in every kind of field."""
    configuration = Configuration({"threads": 2, "arg.x": 0.1, "env.A": "ü\n", "smt": True})
    return Sample(
        launch=Launch(
            configuration=configuration,
            arm=str(configuration),
            stage=Stage.SEARCH,
            block=block,
            position=position,
            attempt=attempt,
            timeout_s=12.5,
        ),
        outcome=Outcome.OK,
        exit_status=0,
        wall_s=0.1 + 0.2,
        peak_bytes=2**53 + 1,
        metrics={"wall_s": 0.1 + 0.2, "rate": rate},
        settings={"threads": Grant(value=2, status=GrantStatus.GRANTED, level=Level.SEEN)},
        evidence=(Evidence(kind="steal", value=0.01, unit="s", external=True),),
        unavailable={"peak_anon_bytes": "too short to be read"},
        started_at=1.7e9,
        launcher_version="0.1.0",
    )


def make_output(text: bytes = b"\xff\0 done\n") -> Output:
    """Return the output of a launch, which need not be valid text."""
    return Output(stream="stdout", size_bytes=len(text), sha256="0" * 64, head=text)


def make_plan(threads: int = 2) -> Plan:
    """Return a plan of ``threads``."""
    configuration = Configuration({"threads": threads})
    actions = (EnvSet(name="OMP_NUM_THREADS", value=str(threads)),)
    return Plan(configuration=configuration, actions=actions)


def make_overhead(machine: str, at_s: float, command: str | None = None) -> Overhead:
    """Return the cost of one observation on a machine."""
    cost = Cost(share=0.01, low=-0.01, high=0.03)
    observed = ObservedCost(
        observation="memory",
        program="spin",
        baseline_s=0.05,
        pairs=20,
        wall=cost,
        user=cost,
        sys=cost,
    )
    return Overhead(
        machine=machine,
        model="a processor",
        kernel="6.18",
        assay_version="0.1.0",
        started_at=at_s,
        duration_s=60.0,
        costs=(observed,),
        unavailable={"counters": "this machine does not have this counter"},
        command=command,
    )


def make_conclusion(ratio: float = 0.8) -> Conclusion:
    """Return a verdict document."""
    summary = Summary(n=3, min=1.0, q1=1.5, median=2.0, q3=2.5, max=3.0, mean=2.0)
    claim = Claim(
        a="default",
        b="threads=2",
        metric="rate",
        ratio=ratio,
        ci=(ratio - 0.1, None),
        verdict=Verdict.FASTER,
        blocks=8,
        margin=0.01,
        alpha=0.05,
        method="sequential",
    )
    best = Configuration({"threads": 2})
    return Conclusion(
        kind=Kind.TUNE,
        metric="rate",
        arms=(ArmResult(name="default", configuration=best, summary={"rate": summary}),),
        claims=(claim,),
        recommendation=Recommendation(
            settings=best, script="#!/bin/sh\n", sentence="Faster.", claim=claim
        ),
        launches=16,
    )


class StoreContract:
    """Contract of a store: derive a test class and define ``open``."""

    def open(self) -> Store:
        """Open the store under test; within one test, always the same database."""
        raise NotImplementedError

    def test_new_study_reads_back_unchanged(self) -> None:
        """Specification, stratum and time are stored; there is no conclusion yet."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1000.5)
            found = store.study(study_id)
            assert (found.id, found.spec) == (study_id, tune_spec())
            assert found.strata == (make_stratum(),)
            assert (found.created_at, found.elapsed_s, found.launches) == (1000.5, 0.0, 0)
            assert found.status is Status.RUNNING
            assert found.conclusion is None
            assert store.conclusion(study_id) is None
            assert store.samples(study_id) == []

    def test_study_persists_after_reopening(self) -> None:
        """The data are still there after the store is opened again."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            store.add_sample(study_id, 0, make_sample(0))
            store.add_sample(study_id, 1, make_sample(1))
            store.add_elapsed(study_id, 2.5)
            store.set_conclusion(study_id, make_conclusion())
            store.set_status(study_id, Status.DONE)
        with self.open() as store:
            found = store.study(study_id)
            assert found.strata == (make_stratum(0), make_stratum(1))
            assert found.conclusion == make_conclusion()
            assert (found.status, found.elapsed_s, found.launches) == (Status.DONE, 2.5, 2)
            assert store.samples(study_id) == [make_sample(0), make_sample(1)]

    def test_ids_are_short_and_unique(self) -> None:
        """They have six to eight letters and digits."""
        with self.open() as store:
            ids = {store.create_study(tune_spec(), make_stratum(), float(n)) for n in range(20)}
        assert len(ids) == 20
        assert all(6 <= len(one) <= 8 and one.isalnum() and one.islower() for one in ids)

    def test_studies_are_listed_oldest_first(self) -> None:
        """The order is that of creation, not of storing; the list includes the launches."""
        with self.open() as store:
            young = store.create_study(tune_spec("ls", "a b"), make_stratum(), 20.0)
            old = store.create_study(tune_spec("true"), make_stratum(), 10.0)
            store.add_sample(young, 0, make_sample())
            heads = store.studies()
            assert [head.id for head in heads] == [old, young]
            assert [head.launches for head in heads] == [0, 1]
            assert [head.command for head in heads] == ["true", "ls 'a b'"]
            assert heads[0].kind is Kind.TUNE
            assert store.find("last") == young

    def test_selection_returns_the_newest_matching_studies(self) -> None:
        """All conditions must hold; the order stays that of creation."""
        with self.open() as store:
            ids = []
            for number in range(6):
                stratum = msgspec.structs.replace(make_stratum(number % 2), number=0, model="A 7%")
                kind = Kind.SWEEP if number == 5 else Kind.TUNE
                spec = msgspec.structs.replace(tune_spec(f"./p{number}"), kind=kind)
                ids.append(store.create_study(spec, stratum, float(number)))
            for number, label in ((1, "nightly"), (1, "x"), (4, "nightly")):
                store.add_label(ids[number], label)

            def selected(**conditions: Any) -> list[str]:
                return [head.id for head in store.studies(StudySelection(**conditions))]

            assert selected() == ids
            assert selected(limit=2) == ids[4:]
            assert selected(limit=9) == ids
            assert selected(labels=("nightly",)) == [ids[1], ids[4]]
            assert selected(labels=("nightly",), limit=1) == [ids[4]]
            assert selected(labels=("nightly", "x")) == [ids[1]]
            assert selected(labels=("night",)) == []
            assert selected(command="p3") == [ids[3]]
            assert selected(command="%") == []
            assert selected(since=2.0, before=4.0) == ids[2:4]
            assert selected(machine="machine-1") == ids[1::2]
            assert selected(machine="machine") == ids
            assert selected(machine="a 7%") == ids
            assert selected(machine="a 7%%") == []
            assert selected(kinds=(Kind.SWEEP,)) == ids[5:]
            assert selected(kinds=(Kind.TUNE, Kind.SWEEP), limit=2) == ids[4:]
            assert selected(kinds=(Kind.CALIBRATE,)) == selected(kinds=()) == []

    def test_strata_of_machines_are_selected_and_shared(self) -> None:
        """They are those of the machines, and those of all studies of the kind."""
        with self.open() as store:
            spec, other = tune_spec(), msgspec.structs.replace(tune_spec(), kind=Kind.SWEEP)
            first = store.create_study(spec, _with_host(0), 2.0)
            second = store.create_study(spec, _with_host(0), 1.0)
            elsewhere = store.create_study(other, make_stratum(1), 3.0)
            store.create_study(spec, make_stratum(2), 4.0)
            store.add_stratum(first, _with_host(3))
            store.add_sample(first, 0, make_sample())
            store.add_elapsed(first, 1.5)
            found = store.strata_of_machines(("machine-0", "machine-3"), Kind.SWEEP)
            places = [(one.study, one.stratum.number) for one in found]
            assert places == [(second, 0), (first, 0), (first, 3), (elsewhere, 1)]
            assert [one.stratum for one in found[1:3]] == store.strata(first)
            assert (found[1].launches, found[1].elapsed_s, found[1].created_at) == (1, 1.5, 2.0)
            assert [one.spec for one in found] == [spec, spec, spec, other]
            assert found[0].spec is found[1].spec
            assert found[0].stratum.host is found[2].stratum.host
            assert store.strata_of_machines((), Kind.CALIBRATE) == []

    def test_labels_are_added_and_removed(self) -> None:
        """They are sorted, without duplicates, and deleted with the study."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            assert store.study(study_id).labels == ()
            for label in ("ü b", "a", "a"):
                store.add_label(study_id, label)
            assert store.study(study_id).labels == store.studies()[0].labels == ("a", "ü b")
            for bad in ("", " ", "a\nb", "x" * 101):
                _raises(InvalidInputError, store.add_label, study_id, bad)
            for label in ("a", "unknown"):
                store.remove_label(study_id, label)
            assert store.study(study_id).labels == store.studies()[0].labels == ("ü b",)
            _raises(InvalidInputError, store.add_label, "none", "c")
            _raises(InvalidInputError, store.remove_label, "none", "c")
            store.delete(study_id)
            assert store.studies(StudySelection(labels=("ü b",))) == []

    def test_labels_of_several_stores_are_kept(self) -> None:
        """A label needs no hold, and replaces no label that another process assigned."""
        with self.open() as first, self.open() as second:
            study_id = first.create_study(tune_spec(), make_stratum(), 1.0)
            for store, label in ((first, "a"), (second, "b"), (first, "c"), (second, "c")):
                store.add_label(study_id, label)
            second.remove_label(study_id, "a")
            assert first.study(study_id).labels == second.study(study_id).labels == ("b", "c")

    def test_commands_of_arms_name_the_study(self) -> None:
        """The list shows the commands of ``assay compare A B``."""
        spec = StudySpec(
            kind=Kind.COMPARE,
            workload=Workload(argv=("gzip",)),
            arms=(
                Arm(name="gzip", configuration=Configuration({"command": "gzip -1 f"})),
                Arm(name="xz", configuration=Configuration({"command": "xz -1 f"})),
            ),
            budget=Budget(),
        )
        with self.open() as store:
            store.create_study(spec, make_stratum(), 1.0)
            assert store.studies()[0].command == "gzip -1 f vs xz -1 f"

    def test_study_is_found_by_unique_prefix(self) -> None:
        """The shortest unique prefix is enough; an ambiguous or unknown one names the nearest."""
        with self.open() as store:
            _raises(InvalidInputError, store.find, "last")
            ids = [store.create_study(tune_spec(), make_stratum(), float(n)) for n in range(40)]
            for one in ids:
                assert store.find(one) == one
                assert store.find(f" {one.upper()} ") == one
                others = [other for other in ids if other != one]
                length = next(
                    n for n in range(1, 9) if not any(o.startswith(one[:n]) for o in others)
                )
                assert store.find(one[:length]) == one
                if length > 1:
                    error = _raises(InvalidInputError, store.find, one[: length - 1])
                    assert "study list" in str(error)
            typo = ids[0][:-1] + "!"
            assert ids[0] in str(_raises(InvalidInputError, store.find, typo))
            _raises(InvalidInputError, store.find, "")
            _raises(InvalidInputError, store.find, "%")

    def test_samples_are_returned_in_storage_order(self) -> None:
        """The order is not that of blocks; numbers only increase."""
        order = [
            make_sample(3),
            make_sample(0),
            make_sample(1, 1),
            make_sample(1, 0),
            make_sample(1, 0, 1),
        ]
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            numbers = [store.add_sample(study_id, 0, sample) for sample in order]
            assert store.samples(study_id) == order
            assert numbers == sorted(set(numbers))

    def test_iteration_yields_the_samples_of_its_beginning(self) -> None:
        """Pages and strata have no influence; later samples are left out."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            for block in range(600):
                store.add_sample(study_id, block % 2, make_sample(block))
            assert list(store.iterate_samples(study_id)) == store.samples(study_id)
            assert list(store.iterate_samples(study_id, 1)) == store.samples(study_id, 1)
            assert list(store.iterate_samples(study_id, 2)) == []
            assert [store.count_samples(study_id, number) for number in range(3)] == [300, 300, 0]
            documents = store.decoded_samples(study_id, 1, lambda document: document)
            assert [decode(one, Sample) for one in documents] == store.samples(study_id, 1)
            reading = store.iterate_samples(study_id)
            next(reading)
            store.add_sample(study_id, 0, make_sample(600))
            assert len(list(reading)) == 599

    def test_pages_contain_the_samples_in_packed_form(self) -> None:
        """Each page states the number of samples after it."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            for block in range(600):
                store.add_sample(study_id, block % 2, make_sample(block))
            pages = list(store.sample_pages(study_id, 1, 256))
            found = [sample for page in pages for sample in page.samples(decode_once)]
            assert found == store.samples(study_id, 1)
            sizes = [len(page) for page in pages]
            after = [sum(sizes[place + 1 :]) for place in range(len(pages))]
            assert [page.following for page in pages] == after
            assert list(store.sample_pages(study_id, 2, 256)) == []

    def test_deletion_during_an_iteration_raises_error(self) -> None:
        """A part of the samples must not look like all of them."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            for block in range(600):
                store.add_sample(study_id, 0, make_sample(block))
            reading = store.iterate_samples(study_id)
            next(reading)
            store.delete(study_id)
            _raises(InvalidInputError, list, reading)

    def test_number_of_launches_follows_every_session(self) -> None:
        """It is correct while a study runs, after its end, and after a later session."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            for status in (Status.INTERRUPTED, Status.RUNNING, Status.DONE):
                before = store.study(study_id).launches
                store.add_sample(study_id, 0, make_sample(before))
                assert store.study(study_id).launches == before + 1
                store.set_status(study_id, status)
                assert store.studies()[0].launches == before + 1
        with self.open() as store:
            store.acquire(study_id)
            assert store.study(study_id).launches == 3
            store.add_sample(study_id, 0, make_sample(3))
            assert store.study(study_id).launches == 4
        with self.open() as store:
            assert store.studies()[0].launches == 4

    def test_strata_are_separate(self) -> None:
        """A position may recur in another stratum; a stratum occurs once."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_sample(study_id, 0, make_sample(rate=1.0))
            store.add_stratum(study_id, make_stratum(1))
            store.add_sample(study_id, 1, make_sample(rate=2.0))
            assert store.samples(study_id, 0) == [make_sample(rate=1.0)]
            assert store.samples(study_id, 1) == [make_sample(rate=2.0)]
            assert store.samples(study_id, 2) == []
            assert len(store.samples(study_id)) == 2
            _raises(InvalidInputError, store.add_stratum, study_id, make_stratum(1))
            _raises(InvalidInputError, store.add_sample, study_id, 2, make_sample())
            assert store.strata(study_id) == [make_stratum(0), make_stratum(1)]

    def test_duplicate_position_is_rejected(self) -> None:
        """The first one stays; a further attempt has another position."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_sample(study_id, 0, make_sample(rate=1.0))
            error = _raises(InvalidInputError, store.add_sample, study_id, 0, make_sample(rate=2.0))
            assert "block 0" in str(error)
            store.add_sample(study_id, 0, make_sample(attempt=1, rate=3.0))
            assert [s.metrics["rate"] for s in store.samples(study_id)] == [1.0, 3.0]

    def test_unreadable_sample_is_rejected(self) -> None:
        """A figure that is not a number has no JSON form."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            bad = make_sample(rate=float("nan"))
            _raises(InvalidInputError, store.add_sample, study_id, 0, bad)
            store.add_sample(study_id, 0, make_sample())
            assert store.samples(study_id) == [make_sample()]

    def test_invalid_utf8_is_stored_unchanged(self) -> None:
        """Other bytes read back unchanged; the readable column contains escapes instead."""
        with self.open() as store:
            study_id = store.create_study(tune_spec("f\udcff é"), make_stratum(), 1.0)
            assert store.study(study_id).spec == tune_spec("f\udcff é")
            assert "f\\xff é" in store.studies()[0].command
            assert store.studies(StudySelection(command="f\udcff")) == store.studies()

    def test_status_time_and_conclusion_change(self) -> None:
        """Time adds up; the last status and conclusion are valid."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            other = store.create_study(tune_spec(), make_stratum(), 2.0)
            store.add_elapsed(study_id, 1.5)
            store.add_elapsed(study_id, 2.0)
            for status in Status:
                store.set_status(study_id, status)
                assert store.study(study_id).status is status
            store.set_conclusion(study_id, make_conclusion(0.5))
            store.set_conclusion(study_id, make_conclusion(0.9))
            assert store.conclusion(study_id) == make_conclusion(0.9)
            assert store.study(study_id).elapsed_s == 3.5
            untouched = store.study(other)
            assert (untouched.elapsed_s, untouched.conclusion) == (0.0, None)

    def test_outputs_are_stored_with_their_samples(self) -> None:
        """Outputs have the order of the samples of each stratum; samples are read without them."""
        streams = (make_output(), make_output(b""))
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            store.add_sample(study_id, 0, msgspec.structs.replace(make_sample(0), outputs=streams))
            store.add_sample(
                study_id, 1, msgspec.structs.replace(make_sample(0), outputs=streams[:1])
            )
            store.add_sample(study_id, 0, make_sample(1))
            assert store.samples(study_id, 0) == [make_sample(0), make_sample(1)]
            assert list(store.outputs(study_id, 0)) == [streams, ()]
            assert list(store.outputs(study_id, 1)) == [streams[:1]]
            assert list(store.outputs(study_id, 2)) == []

    def test_outputs_of_many_samples_are_complete(self) -> None:
        """Reading in batches loses none."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            for block in range(600):
                sample = make_sample(block)
                if block % 3:
                    output = make_output(str(block).encode())
                    sample = msgspec.structs.replace(sample, outputs=(output,))
                store.add_sample(study_id, 0, sample)
            found = [kept[0].head if kept else b"" for kept in store.outputs(study_id, 0)]
            assert found == [str(b).encode() if b % 3 else b"" for b in range(600)]

    def test_plan_is_stored_once_per_configuration_and_stratum(self) -> None:
        """The first one stays, also across sessions; a rejected sample leaves no plan."""
        again = msgspec.structs.replace(make_plan(1), actions=())
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_sample(study_id, 0, make_sample(0), make_plan(1))
            store.add_sample(study_id, 0, make_sample(1), again)
            _raises(InvalidInputError, store.add_sample, study_id, 0, make_sample(1), make_plan(3))
            assert store.plans(study_id, 0) == [make_plan(1)]
        with self.open() as store:
            store.acquire(study_id)
            store.add_sample(study_id, 0, make_sample(2), again)
            store.add_sample(study_id, 0, make_sample(3), make_plan(2))
            store.add_stratum(study_id, make_stratum(1))
            store.add_sample(study_id, 1, make_sample(0), again)
            found = store.plans(study_id, 0)
            assert sorted(found, key=lambda plan: str(plan.configuration)) == [
                make_plan(1),
                make_plan(2),
            ]
            assert store.plans(study_id, 1) == [again]

    def test_each_stratum_has_its_verdict(self) -> None:
        """The newest is the verdict of the study."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            assert store.conclusions(study_id) == {}
            store.set_conclusion(study_id, make_conclusion(0.5))
            store.set_conclusion(study_id, make_conclusion(0.6))
            store.add_stratum(study_id, make_stratum(1))
            assert store.conclusions(study_id) == {0: make_conclusion(0.6)}
            store.set_conclusion(study_id, make_conclusion(0.7))
            assert store.conclusions(study_id) == {0: make_conclusion(0.6), 1: make_conclusion(0.7)}
            assert store.conclusion(study_id) == make_conclusion(0.7)
            store.delete(study_id)
            _raises(InvalidInputError, store.conclusions, study_id)

    def test_newest_overhead_of_each_machine_is_returned(self) -> None:
        """The order of storing has no influence."""
        with self.open() as store:
            assert store.overheads("this") == ()
            for machine, at_s in (("this", 1.0), ("this", 3.0), ("this", 2.0), ("other", 4.0)):
                store.add_overhead(make_overhead(machine, at_s))
            store.add_overhead(make_overhead("this", 3.5, "./app"))
        with self.open() as store:
            newest = (make_overhead("this", 3.5, "./app"), make_overhead("this", 3.0))
            assert store.overheads("this") == newest
            assert store.overheads("other") == (make_overhead("other", 4.0),)
            assert store.overheads("third") == ()

    def test_unknown_study_raises_error(self) -> None:
        """Each method that reads a study reports the error."""
        with self.open() as store:
            known = store.create_study(tune_spec(), make_stratum(), 1.0)
            reads: tuple[Callable[[str], object], ...] = (
                store.study,
                store.strata,
                store.samples,
                lambda study_id: list(store.iterate_samples(study_id)),
                store.conclusion,
                store.conclusions,
                lambda study_id: store.plans(study_id, 0),
                lambda study_id: list(store.outputs(study_id, 0)),
                store.study_bytes,
                lambda study_id: store.freed_bytes(study_id, 0, ()),
                lambda study_id: list(store.compact(study_id)),
                store.acquire,
                store.delete,
            )
            for read in reads:
                error = _raises(InvalidInputError, read, known + "x")
                assert "study list" in str(error)

    def test_deleted_study_loses_its_samples(self) -> None:
        """No other study is deleted."""
        with self.open() as store:
            gone = store.create_study(tune_spec(), make_stratum(), 1.0)
            kept = store.create_study(tune_spec(), make_stratum(), 2.0)
            store.add_sample(gone, 0, make_sample(rate=1.0))
            store.add_sample(kept, 0, make_sample(rate=2.0))
            store.delete(gone)
            _raises(InvalidInputError, store.samples, gone)
            _raises(AssayError, store.add_sample, gone, 0, make_sample(1))
            assert [head.id for head in store.studies()] == [kept]
            assert store.samples(kept) == [make_sample(rate=2.0)]
            again = store.create_study(tune_spec(), make_stratum(), 3.0)
            assert store.samples(again) == []

    def test_replaced_samples_are_smaller_and_fewer(self) -> None:
        """The last ones and all outputs are deleted; other strata and later samples are kept."""
        output = (make_output(bytes(range(256)) * 20),)
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            for block in range(20):
                sample = msgspec.structs.replace(make_sample(block), outputs=output)
                store.add_sample(study_id, block % 2, sample)
            other = store.samples(study_id, 1)
            thin = [msgspec.structs.replace(s, evidence=()) for s in store.samples(study_id, 0)]
            size, freed = store.study_bytes(study_id), store.freed_bytes(study_id, 0, thin[:7])
            assert 0 < freed < size
            store.replace_samples(study_id, 0, thin[:7])
            assert store.samples(study_id, 0) == thin[:7]
            assert store.samples(study_id, 1) == other
            assert list(store.outputs(study_id, 0)) == [()] * 7
            assert list(store.outputs(study_id, 1)) == [output] * 10
            assert store.study_bytes(study_id) < size
            assert store.studies()[0].launches == 17
            store.add_sample(study_id, 0, make_sample(40))
            assert store.samples(study_id, 0) == [*thin[:7], make_sample(40)]
            assert store.study(study_id).launches == 18
            too_many = [make_sample(block) for block in range(50, 60)]
            _raises(InvalidInputError, store.replace_samples, study_id, 0, too_many)
            assert store.samples(study_id, 0) == [*thin[:7], make_sample(40)]
            store.replace_samples(study_id, 0, ())
            assert store.samples(study_id) == other
            store.release(study_id)
            _raises(NotPossibleError, store.replace_samples, study_id, 0, ())

    def test_deleted_space_is_reused_and_returned(self) -> None:
        """Compaction of a store without documents of an older assay changes no study."""
        with self.open() as store:
            ids = [store.create_study(tune_spec(), make_stratum(), float(n)) for n in range(2)]
            for study_id in ids:
                for block in range(300):
                    store.add_sample(study_id, 0, make_sample(block))
                store.release(study_id)
            full = store.file_use()
            store.delete(ids[0])
            assert store.file_use().free_bytes > 0
            assert list(store.compact(ids[1])) == []
            store.demand_space_for_vacuum()
            store.vacuum()
            assert store.file_use().free_bytes == 0
            assert store.file_use().size_bytes < full.size_bytes
            assert store.samples(ids[1]) == [make_sample(block) for block in range(300)]

    def test_held_study_is_read_only_for_other_stores(self) -> None:
        """Other processes can read it, and write only after it is released."""
        with self.open() as first, self.open() as second:
            study_id = first.create_study(tune_spec(), make_stratum(), 1.0)
            first.add_sample(study_id, 0, make_sample())
            assert second.samples(study_id) == [make_sample()]
            assert second.study(study_id).status is Status.RUNNING
            assert "in use" in str(_raises(NotPossibleError, second.acquire, study_id))
            _raises(NotPossibleError, second.delete, study_id)
            _raises(NotPossibleError, second.add_sample, study_id, 0, make_sample(1))
            _raises(NotPossibleError, second.set_status, study_id, Status.DONE)
            other = second.create_study(tune_spec(), make_stratum(), 2.0)
            second.add_sample(other, 0, make_sample())

            first.release(study_id)
            _raises(NotPossibleError, first.add_sample, study_id, 0, make_sample(1))
            second.acquire(study_id)
            second.acquire(study_id)
            _raises(NotPossibleError, first.acquire, study_id)
            second.add_sample(study_id, 0, make_sample(1))
            assert first.samples(study_id) == [make_sample(), make_sample(1)]

    def test_closing_releases_the_study(self) -> None:
        """A study that no process runs reads as interrupted, and can be acquired."""
        with self.open() as reader:
            with self.open() as owner:
                study_id = owner.create_study(tune_spec(), make_stratum(), 1.0)
                assert reader.studies()[0].status is Status.RUNNING
            assert reader.studies()[0].status is Status.INTERRUPTED
            assert reader.study(study_id).status is Status.INTERRUPTED
            reader.acquire(study_id)
            assert reader.study(study_id).status is Status.RUNNING
            reader.set_status(study_id, Status.DONE)
            reader.release(study_id)
            reader.release(study_id)
            assert reader.study(study_id).status is Status.DONE

    def test_acquire_returns_existing_strata(self) -> None:
        """New samples continue the strata of an earlier session, and new strata."""
        with self.open() as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            store.add_stratum(study_id, make_stratum(1))
            store.add_sample(study_id, 1, make_sample())
        with self.open() as store:
            store.acquire(study_id)
            store.add_sample(study_id, 0, make_sample())
            _raises(InvalidInputError, store.add_sample, study_id, 1, make_sample())
            _raises(InvalidInputError, store.add_stratum, study_id, make_stratum(1))
            store.add_stratum(study_id, make_stratum(2))
            store.add_sample(study_id, 2, make_sample())
            assert store.study(study_id).launches == 3


def _raises(kind: type[AssayError], call: Callable[..., object], *args: object) -> AssayError:
    try:
        call(*args)
    except kind as error:
        assert error.cause
        return error
    raise AssertionError(f"{kind.__name__} was not raised")
