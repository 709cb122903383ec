"""The command."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from . import cost, killing, memory, output, startup, timing
from .bench import set_up
from .native import build
from .page import page
from .peers import Peers, find_peers
from .reading import Table
from .schedule import SMOKE, Scale, carry_out
from .server import ROOT
from .surroundings import Disturbance, favoured, machine

PARTS = {module.NAME: module.visits for module in (cost, timing, memory, killing, output, startup)}
DOCS = ROOT / "docs" / "benchmarks"
RESULT = ROOT / "build" / "bench-overhead.json"


def measured(scale: Scale, names: list[str], peers: Peers, seed: int, nice: int) -> dict[str, Any]:
    """Carry everything out."""
    rng = random.Random(seed)
    disturbance = Disturbance()

    def began(number: int) -> None:
        disturbance.note()
        print(f"round {number + 1} of {scale.rounds}", file=sys.stderr, flush=True)

    with favoured(nice), tempfile.TemporaryDirectory(prefix="bench-overhead-") as name:
        folder = Path(name)
        with set_up(build(folder / "programs"), peers, scale, rng, folder) as bench:
            visits = [visit for name in names for visit in PARTS[name](bench)]
            table, failures = carry_out(visits, scale.rounds, rng, began)
            peers = bench.peers
    return {
        "schema": 1,
        "date": time.strftime("%Y-%m-%d", time.localtime(disturbance.began_s)),
        "machine": machine(),
        "peers": {peer.name: peer.version for peer in peers.found.values()},
        "missing": list(peers.missing),
        "scale": {"rounds": scale.rounds, "output_mib": scale.output_mib, "seed": seed},
        "nice": nice,
        "load": disturbance.document(),
        "failures": dict(Counter(failures)),
        "readings": table.document(),
    }


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.overhead", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks")
    parser.add_argument("--smoke", action="store_true", help="a launch or two of everything")
    parser.add_argument("--full", action="store_true", help="10 GiB of output, not 2")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; repeatable")
    parser.add_argument("--nice", type=int, default=0, help="of the whole run; as root, -15 helps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=Path, default=ROOT / ".venv" / "bench", metavar="FOLDER")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="measure nothing")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure, keep the result, show the page."""
    arguments = arguments_of(words)
    scale = Scale(
        rounds=arguments.rounds,
        launches=20,
        few=3,
        spins=5,
        output_mib=10 << 10 if arguments.full else 2 << 10,
        seldom=3,
    )
    if arguments.source is not None:
        document = json.loads(arguments.source.read_text())
    else:
        document = measured(
            SMOKE if arguments.smoke else scale,
            arguments.part or list(PARTS),
            find_peers(arguments.peers),
            arguments.seed,
            arguments.nice,
        )
    text = page(document, Table.of(document["readings"]))
    print(text)
    if arguments.smoke:
        return 1 if document["failures"] else 0
    folder = DOCS if arguments.write else RESULT.parent
    folder.mkdir(parents=True, exist_ok=True)
    name = "overhead" if arguments.write else RESULT.stem
    (folder / f"{name}.json").write_text(shown(document))
    (folder / f"{name}.md").write_text(text)
    return 0


def shown(document: dict[str, Any]) -> str:
    """As JSON, with one line for each list of readings."""
    head = {name: value for name, value in document.items() if name != "readings"}
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in document["readings"])
    return f'{json.dumps(head, indent=1)[:-2]},\n "readings": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
