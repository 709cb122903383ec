"""Bundles contain no names of the host or its user."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from studies import (
    NOBODY,
    an_output,
    bundle_of,
    lines_of,
    source_of,
    spec_of,
    stratum_of,
    unpacked,
    written,
)

from assay.bundle.identity import Identity, read_identity
from assay.bundle.layout import OutputDocument
from assay.bundle.redact import Redactor
from assay.bundle.source import Source
from assay.bundle.verify import verify
from assay.machine.document import Cpu, Machine, Node, Rights
from assay.machine.root import Root
from assay.records import (
    Arm,
    Choices,
    Conclusion,
    Configuration,
    Evidence,
    Grant,
    GrantStatus,
    HashedPart,
    Kind,
    Metric,
    Output,
    Parameter,
    Progress,
    Sample,
    Space,
    Stratum,
    decode,
    encode,
)
from assay.records.sample import PROGRESS_QUOTES
from assay.records.workload import WALL
from assay.settings.registry import builtin

HOME, HOST, USER = "/home/mia.berg", "moritzberg-ws7", "mia.berg"
FULL_NAME, LONG_NAME = "Mia Berg-Holm", f"{HOST}.corp.example"
SERIAL, SECRET = "5CD9-XK21/Q", "hunter2-and-more"
IDENTITY = Identity(
    hosts=(LONG_NAME, HOST),
    users=(FULL_NAME, USER),
    homes=(HOME,),
    serials=(SERIAL,),
    secrets=(SECRET,),
)
MAC, IP, IP6 = "52:54:00:ab:cd:ef", "192.168.17.4", "fe80::5054:ff:feab:cdef"
UUID = "4C4C4544-0052-3510-8053-b7c04f4d3232"
NAMING = (HOME, HOST, USER, SERIAL, SECRET, FULL_NAME, LONG_NAME, MAC, IP, IP6, UUID)


def machine() -> Machine:
    return Machine(
        arch="x86_64",
        kernel=f"6.1.0-{HOST}",
        kernel_version=(6, 1),
        model=f"Processor {SERIAL}",
        cpus=(Cpu(id=0, core=0, siblings=(0,)), Cpu(id=1, core=1, siblings=(1,))),
        allowed_cpus=(0, 1),
        nodes=(Node(id=0, cpus=(0, 1), memory_bytes=1 << 30),),
        rights=Rights(uid=48291),
        flags=frozenset({"avx", "sse2", "fma", "aes", "bmi1"}),
        libraries={"jemalloc": f"{HOME}/lib/libjemalloc.so.2"},
        default_state={"boot": f"root=UUID={UUID} ip={IP}"},
    )


def planted(text: str) -> Source:
    """Return a study with ``text`` in every field of text."""
    spec = msgspec.structs.replace(
        spec_of(
            Kind.TUNE,
            argv=(f"{HOME}/bin/solve", f"--host={HOST}", text, "{n}"),
            environment={"WHERE": text, "env_" + USER: HOME},
            metrics=(
                WALL,
                Metric(name=f"rate {text}", unit=f"1/s of {USER}", pattern=rf"{USER}: (\d+)"),
            ),
            check=f"done on {HOST}",
            stdin=f"{HOME}/input",
            cwd=f"{HOME}/work",
        ),
        space=Space(
            parameters=(
                Parameter(name="threads", domain=Choices(options=(1, 2)), reason=text),
                Parameter(name="env.WHERE", domain=Choices(options=("-", text)), default="-"),
            ),
            constraints=(f"env.WHERE != '{HOME}/x'",),
        ),
    )

    def change(sample: Sample) -> Sample:
        grant = Grant(value=text, status=GrantStatus.GRANTED, reason=text, observed=text)
        return msgspec.structs.replace(
            sample,
            message=text,
            metrics=sample.metrics | {f"rate {text}": 2.0},
            settings={"env.WHERE": grant},
            evidence=(Evidence(kind="libraries", note=text), Evidence(kind=text, value=1.0)),
            unavailable={f"peak {text}": text},
            node=HOST,
            launcher_version=f"0.1.0 {USER}",
        )

    strata = (
        stratum_of(
            kernel=f"6.1.0 {text}",
            default_state={"boot": text, text: "1"},
            launch_environment={f"variable {USER}_TOKEN": hash_of(SECRET), "variable A": SECRET},
            model=text,
            host=msgspec.to_builtins(machine())
            | {"product_serial": SERIAL, "hostname": HOST, "nics": [{"mac": MAC}]},
        ),
    )
    big = hashlib.sha256(text.encode()).digest() * 300
    return source_of(
        spec,
        strata=strata,
        change=change,
        output=lambda number: (
            an_output(text.encode()),
            Output(
                stream="stderr",
                size_bytes=10**6,
                sha256=hash_of(text * number),
                head=text.encode() + big[:4000],
                tail=big[:4000] + text.encode(),
            ),
        ),
    )


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def names_in(bundle: bytes, names: tuple[str, ...] = NAMING) -> dict[str, str]:
    """Return the names found in each file."""
    files = unpacked(bundle)
    return {
        name: file
        for name in names
        for file, content in files.items()
        if name.lower().encode() in (content.lower() + file.encode())
    }


SEPARATOR = st.sampled_from(
    [" ", "/", "=", ":", "\n", "_", ".", "-", "'", '"', "\\", "7", "\t", " é"]
)


@pytest.mark.rotating
@settings(max_examples=25)  # each is a whole study, concluded three times
@given(
    words=st.lists(st.sampled_from(NAMING), min_size=1, max_size=5),
    between=st.lists(SEPARATOR, min_size=6, max_size=6),
    upper=st.booleans(),
)
@example(words=list(NAMING), between=[" "] * 6, upper=False)
def test_bundle_contains_no_name(words: list[str], between: list[str], upper: bool) -> None:
    text = between[-1] + "".join(
        w + b for w, b in zip(words, [*between, " ", " ", " ", " ", " "], strict=False)
    )
    text = text.upper() if upper else text
    # An address behind a dot or a digit is a part of something else.
    whole = tuple(name for name in NAMING if name not in (MAC, IP, IP6, UUID))
    assert names_in(bundle_of(planted(text), IDENTITY), whole) == {}


def test_bundle_with_replaced_names_is_valid(tmp_path: Path) -> None:
    text = " and ".join(NAMING)
    bundle, done = written(planted(text), IDENTITY)
    assert names_in(bundle) == {}
    assert names_in(bundle, (hash_of(text), hash_of(SECRET))) == {}
    assert done.notes == ()
    assert {"~", "HOSTNAME", "USERNAME", "SERIAL", "ADDRESS", "SECRET"} == set(
        done.manifest.replacements
    )
    (tmp_path / "study.zip").write_bytes(bundle)
    found = verify(tmp_path / "study.zip")
    assert found.holds, found
    assert found.study is not None
    assert found.study.spec.workload.argv[0] == "~/bin/solve"
    assert found.study.spec.workload.cwd == "~/work"


def test_study_without_names_is_unchanged(tmp_path: Path) -> None:
    source = source_of(
        spec_of(Kind.TUNE), output=lambda number: (an_output(b"v1.2.3 at 12:30:59"),)
    )
    bundle, done = written(source, IDENTITY)
    assert done.manifest.replacements == {}
    assert bundle == bundle_of(source, NOBODY)


def test_replaced_names_do_not_change_figures() -> None:
    """The verdict does not depend on the name of the host."""
    source = source_of(spec_of(Kind.COMPARE, argv=(f"{HOME}/solve", "{n}")))
    (one,) = source.strata
    files = unpacked(bundle_of(source, IDENTITY))
    found = decode(files["strata/0/conclusion.json"], Conclusion)
    assert found == one.conclusion
    assert encode(found) == files["strata/0/conclusion.json"].rstrip(b"\n")


def test_arms_with_different_addresses_remain_distinct(tmp_path: Path) -> None:
    arms = tuple(
        Arm(name=f"ping {ip}", configuration=Configuration({"env.MODE": mode, "env.IP": ip}))
        for ip, mode in (("10.0.0.1", "slow"), ("10.0.0.2", "fast"))
    )
    spec = msgspec.structs.replace(spec_of(Kind.COMPARE), arms=arms)
    bundle = bundle_of(source_of(spec), IDENTITY)
    (tmp_path / "study.zip").write_bytes(bundle)
    found = verify(tmp_path / "study.zip")
    assert found.holds
    assert [arm.name for arm in found.verdicts[0].conclusion.arms] == [
        "ping ADDRESS",
        "ping ADDRESS2",
    ]


def test_machine_document_has_no_names_or_values() -> None:
    stratum: Stratum = decode(
        unpacked(bundle_of(planted("x"), IDENTITY))["strata/0/stratum.json"], Stratum
    )
    assert stratum.launch_environment == {"variable USERNAME_TOKEN": "", "variable A": ""}
    assert "product_serial" not in stratum.host
    assert "hostname" not in stratum.host
    assert stratum.host["rights"]["uid"] == 65534
    assert stratum.host["libraries"] == {"jemalloc": "~/lib/libjemalloc.so.2"}
    assert stratum.host["flags"] == sorted(machine().flags)


def test_unreadable_machine_document_is_omitted() -> None:
    source = source_of(spec_of(Kind.MEASURE), strata=(stratum_of(host={"hostname": HOST}),))
    stratum = decode(unpacked(bundle_of(source))["strata/0/stratum.json"], Stratum)
    assert stratum.host == {}


STREAMS: dict[str, tuple[Output, str | None]] = {
    "whole, without a name": (an_output(b"done"), hash_of("done")),
    "whole, with one": (an_output(f"by {USER}".encode()), hash_of("by USERNAME")),
    "long, without a name": (
        Output(stream="stdout", size_bytes=99_999, sha256="ab" * 32, head=b"a", tail=b"b"),
        "ab" * 32,
    ),
    "long, with one": (
        Output(stream="stdout", size_bytes=99_999, sha256="ab" * 32, head=b"a", tail=USER.encode()),
        None,
    ),
    "very long, with one": (
        Output(
            stream="stdout",
            size_bytes=10**9,
            sha256="ab" * 32,
            digest_scope=HashedPart.ENDS,
            head=b"a",
            tail=USER.encode(),
        ),
        hash_of("aUSERNAME"),
    ),
}


@pytest.mark.parametrize("case", STREAMS)
def test_digests_do_not_cover_names(case: str) -> None:
    output, digest = STREAMS[case]
    source = source_of(spec_of(Kind.MEASURE), output=lambda number: (output,))
    entry = lines_of(unpacked(bundle_of(source, IDENTITY))["strata/0/outputs.jsonl"])[0]
    (stream,) = decode(entry, OutputDocument).streams
    assert stream.sha256 == digest
    assert (stream.size_bytes, stream.digest_scope) == (output.size_bytes, output.digest_scope)


def test_names_in_binary_output_are_replaced(tmp_path: Path) -> None:
    source = source_of(
        spec_of(Kind.MEASURE),
        output=lambda number: (an_output(b"\xff\0" + USER.encode() + b"\xfe"),),
    )
    bundle = bundle_of(source, IDENTITY)
    entry = lines_of(unpacked(bundle)["strata/0/outputs.jsonl"])[0]
    (stream,) = decode(entry, OutputDocument).streams
    assert stream.encoding == "base64"
    assert base64.b64decode(stream.head) == b"\xff\0USERNAME\xfe"
    (tmp_path / "study.zip").write_bytes(bundle)
    assert verify(tmp_path / "study.zip").holds


def test_truncated_character_does_not_make_output_binary() -> None:
    head, tail = ("é" * 2048).encode()[:-1], ("é" * 2048).encode()[1:]
    output = Output(stream="stdout", size_bytes=99_999, sha256="ab" * 32, head=head, tail=tail)
    source = source_of(spec_of(Kind.MEASURE), output=lambda number: (output,))
    entry = lines_of(unpacked(bundle_of(source))["strata/0/outputs.jsonl"])[0]
    (stream,) = decode(entry, OutputDocument).streams
    assert (stream.encoding, stream.head, stream.tail) == ("utf-8", "é" * 2047, "é" * 2047)


# --- the redactor by itself -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("/home/mia.berg", "~"),
        ("/home/mia.berg/x:/home/mia.berg/y", "~/x:~/y"),
        ("/home/mia.berg.", "~."),
        ("/home/mia.bergmann/x", "/home/USERNAME2/x"),
        (
            "/home/tom/x and /home/ute and /home/tom",
            "/home/USERNAME2/x and /home/USERNAME3 and /home/USERNAME2",
        ),
        ("MIA.BERG@Moritzberg-WS7", "USERNAME@HOSTNAME"),
        ("mia.berg7_log", "USERNAME7_log"),
        ("mia.bergs", "mia.bergs"),
        ("moritzberg-ws7.corp.example", "HOSTNAME"),
        (f"eth0 {MAC}, {IP}, {MAC}", "eth0 ADDRESS, ADDRESS2, ADDRESS"),
        ("[fe80::1%eth0]:80", "[ADDRESS%eth0]:80"),
        ("127.0.0.1 ::1 0.0.0.0 00:00:00:00:00:00", "127.0.0.1 ::1 0.0.0.0 00:00:00:00:00:00"),
        ("libx.so.1.2.3.4 v1.2.3.4 999.1.1.1", "libx.so.1.2.3.4 v1.2.3.4 999.1.1.1"),
        ("face::bad dead::beef std::cafe 12:34:56", "face::bad dead::beef std::cafe 12:34:56"),
        (f"GPU-{UUID}", "GPU-SERIAL"),
        (f"password {SECRET}!", "password SECRET!"),
    ],
)
def test_names_are_replaced_by_tokens(text: str, bare: str) -> None:
    redactor = Redactor(IDENTITY)
    assert redactor.text(text) == bare
    assert (
        redactor.bytes(b"\xff" + text.encode()) == b"\xff" + Redactor(IDENTITY).text(text).encode()
    )


@pytest.mark.parametrize(
    "name", ["threads", "steal", "default", "thp", "wall", "malloc", "confirm"]
)
def test_user_named_like_reserved_word_is_harmless(name: str, tmp_path: Path) -> None:
    """The home directory is replaced; the word itself occurs in every study."""
    identity = Identity(users=(name,), hosts=(name,), homes=(f"/home/{name}",))
    source = source_of(spec_of(Kind.TUNE, cwd=f"/home/{name}/work"))
    bundle, done = written(source, identity)
    assert done.notes == ()
    assert f"/home/{name}".encode() not in b"".join(unpacked(bundle).values())
    (tmp_path / "study.zip").write_bytes(bundle)
    assert verify(tmp_path / "study.zip").holds


def test_prefilter_has_no_false_negatives() -> None:
    """The prefilter skips documents; names in JSON are escaped."""
    for name in ('a"b quoted', "tab\there", "back\\slash", "ünïcode", "Ärger"):
        redactor = Redactor(Identity(users=(name,)))
        evidence = Evidence(kind="note", note=f"said {name} again")
        assert redactor.record(evidence).note == "said USERNAME again"
        assert redactor.bytes(f"said {name}".encode()) == b"said USERNAME"


def test_names_of_settings_are_reserved_words() -> None:
    names = builtin().names
    redactor = Redactor(
        Identity(users=tuple({part for n in names for part in n.split(".")})), names
    )
    for name in names:
        assert redactor.text(name) == name


# --- who this host is -------------------------------------------------------------------------


def tree(folder: Path, files: dict[str, str]) -> Root:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Root(folder)


def test_identity_is_read_from_host(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "etc/hostname": "moritz.corp.example\n",
            "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
            "proc/sys/kernel/random/boot_id": f"{UUID}\n",
            "proc/cpuinfo": "processor : 0\nSerial\t\t: 00000000aabbccdd\n",
            "sys/class/dmi/id/product_serial": "5CD9XK21\n",
            "sys/class/dmi/id/board_serial": "To be filled by O.E.M.\n",
            "sys/class/dmi/id/chassis_serial": "Default string\n",
            "sys/class/net/eth0/address": f"{MAC}\n",
            "sys/class/net/lo/address": "00:00:00:00:00:00\n",
            "sys/block/nvme0n1/wwid": "eui.0025385b91b0a1c2\n",
            "sys/block/sda/device/serial": "S3Z9NB0K\n",
        },
    )
    env = {"HOME": "/data/mia/", "USER": "mia", "LOGNAME": "root", "API_TOKEN": SECRET, "KEY": "x"}
    found = read_identity(root, env)
    assert found.hosts == ("moritz.corp.example", "moritz")
    assert found.users == ("mia",)
    assert "/data/mia" in found.homes
    assert found.secrets == (SECRET,)
    assert set(found.serials) == {
        "0123456789abcdef0123456789abcdef",
        UUID,
        "00000000aabbccdd",
        "5CD9XK21",
        MAC,
        "eui.0025385b91b0a1c2",
        "S3Z9NB0K",
    }


def test_linked_home_has_both_paths(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = read_identity(Root(tmp_path), {"HOME": str(tmp_path / "link")})
    assert set(found.homes) == {str(tmp_path / "link"), str(tmp_path / "real")}


def test_common_names_are_not_identifying(tmp_path: Path) -> None:
    root = tree(tmp_path, {"etc/hostname": "localhost\n"})
    found = read_identity(root, {"HOME": "/", "USER": "root", "HOSTNAME": "ubuntu", "LOGNAME": "7"})
    assert (found.hosts, found.users, found.homes) == ((), (), ())


def test_identity_of_this_host_is_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone-else")
    monkeypatch.setenv("USER", "someone-else")
    found = read_identity()
    assert "/home/someone-else" in found.homes
    assert "someone-else" in found.users
    assert all(re.fullmatch(r"\S.*", name) for name in (*found.hosts, *found.users))


def test_bundle_without_outputs_quotes_no_line(tmp_path: Path) -> None:
    said = "libgomp: Invalid value for environment variable OMP_NUM_THREADS"

    def saying(sample: Sample) -> Sample:
        slow = "slow" in str(sample.launch.configuration)
        lines = (Evidence(kind="stderr", value=1.0, unit="lines", note=said),) if slow else ()
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, *lines))

    source = source_of(spec_of(Kind.COMPARE, 40), change=saying)
    for outputs in (True, False):
        bundle, _ = written(source, NOBODY, outputs=outputs)
        texts = b"".join(unpacked(bundle).values())
        assert (said.encode() in texts) is outputs
        path = tmp_path / f"{outputs}.zip"
        path.write_bytes(bundle)
        assert verify(path).holds


def test_bundle_without_outputs_quotes_no_line_without_value(tmp_path: Path) -> None:
    said = "epoch of a secret model"
    speed = Metric(name="sps", unit="samples/s", progress=Progress(pattern="(.*)"))
    note = f"The pattern of sps matches none of 9 lines; {PROGRESS_QUOTES[0]} {said!r}."

    def saying(sample: Sample) -> Sample:
        found = Evidence(kind="progress_never.sps", value=9.0, unit="lines", note=note)
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, found))

    source = source_of(spec_of(Kind.COMPARE, 40, metrics=(WALL, speed)), change=saying)
    for outputs in (True, False):
        bundle, _ = written(source, NOBODY, outputs=outputs)
        assert (said.encode() in b"".join(unpacked(bundle).values())) is outputs
        path = tmp_path / f"{outputs}.zip"
        path.write_bytes(bundle)
        assert verify(path).holds


def test_bundle_without_outputs_quotes_no_different_output(tmp_path: Path) -> None:
    """An objection quotes lines of both arms; the verdict does not depend on them."""
    lines = ("the usual result", "usage: program MODE")

    def writing(sample: Sample) -> Sample:
        line = lines["slow" in str(sample.launch.configuration)]
        note = f"{hash_of(line)}\n{hash_of(line)}\n{line}\n{line}"
        output = Evidence(kind="output", value=20.0, unit="bytes", note=note)
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, output))

    source = source_of(spec_of(Kind.COMPARE, 40), change=writing)
    for outputs in (True, False):
        bundle, done = written(source, NOBODY, outputs=outputs)
        assert not done.notes
        texts = b"".join(unpacked(bundle).values())
        assert [line.encode() in texts for line in lines] == [outputs] * 2
        assert b"different output" in texts
        path = tmp_path / f"{outputs}.zip"
        path.write_bytes(bundle)
        assert verify(path).holds
