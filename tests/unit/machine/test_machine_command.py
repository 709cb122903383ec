import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine.programs.command import Command, unwrap
from assay.machine.programs.python import Call, is_python, parse_call


@pytest.mark.parametrize(
    ("line", "inner", "through"),
    [
        ("prog a b", "prog a b", ""),
        ("nice -n 5 prog -n", "prog -n", "nice"),
        ("nice -19 prog", "prog", "nice"),
        ("/usr/bin/time -v -o out prog x", "prog x", "/usr/bin/time"),
        ("time -f %e -- prog", "prog", "time"),
        ("timeout -k 5 --signal=INT 10s prog 3", "prog 3", "timeout"),
        ("taskset -c 0-3 prog", "prog", "taskset"),
        ("taskset -ac 0-3 prog", "prog", "taskset"),
        ("taskset f prog", "prog", "taskset"),
        ("numactl --membind=0 -C 1 -l prog -C", "prog -C", "numactl"),
        ("chrt -b 0 prog", "prog", "chrt"),
        ("chrt --batch prog", "prog", "chrt"),
        ("stdbuf -oL -e0 prog", "prog", "stdbuf"),
        ("ionice -c2 -n 0 prog", "prog", "ionice"),
        ("nohup setsid -w prog", "prog", "nohup setsid"),
        ("env A=b nice env -u C -i D=e prog x=y", "prog x=y", "env nice env"),
        # Unknown options, or not a wrapper: unchanged.
        ("taskset -p 12", "taskset -p 12", ""),
        ("timeout --odd 5 prog", "timeout --odd 5 prog", ""),
        ("env", "env", ""),
        ("nice", "nice", ""),
        ("sudo prog", "sudo prog", ""),
    ],
)
def test_wrappers(line, inner, through):
    found = unwrap(Command(tuple(line.split())))
    assert found.argv == tuple(inner.split())
    assert found.through == tuple(through.split())


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("prog a 'b c'", ("prog", "a", "b c")),
        ("A=1 exec prog", ("prog",)),
        ("nice -n 1 prog", ("prog",)),
        ("prog | sort", None),
        ("prog > file", None),
        ("a; b", None),
        ("prog $HOME", None),
        ("cd /tmp", None),
        ("for", None),
        ("'open", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("shell", ["sh -c", "/bin/bash -lc", "dash -ec"])
def test_shells(shell, text, inner):
    words = (*shell.split(), text)
    assert unwrap(Command(words)).argv == (words if inner is None else inner)


def test_shell_scripts_stay_with_the_shell():
    words = ("bash", "run.sh", "prog")
    assert unwrap(Command(words)).argv == words


def test_environment_is_followed():
    start = {"A": "1", "C": "2"}
    found = unwrap(Command(("env", "-u", "C", "B=3", "sh", "-c", "D=4 prog"), start))
    assert found.env == {"A": "1", "B": "3", "D": "4"}
    assert unwrap(Command(("env", "-i", "B=3", "prog"), start)).env == {"B": "3"}
    assert unwrap(Command(("env", "-", "prog"), start)).env == {}
    assert start == {"A": "1", "C": "2"}


def test_working_folder_is_followed():
    assert unwrap(Command(("env", "-C", "/x", "prog"), {}, "/w")).cwd == "/x"
    assert unwrap(Command(("env", "--chdir=x", "prog"), {}, "/w")).cwd == "/w/x"


@pytest.mark.parametrize(
    "words", [("-S", "python3 -u", "x.py"), ("-Spython3 -u", "x.py"), ("-S python3 -u", "x.py")]
)
def test_env_splits_shebang_words(words):
    assert unwrap(Command(("env", *words))).argv == ("python3", "-u", "x.py")


WORDS = st.sampled_from(
    [
        "env",
        "nice",
        "time",
        "timeout",
        "taskset",
        "numactl",
        "chrt",
        "sh",
        "bash",
        "-c",
        "-n",
        "-S",
        "-",
        "--",
        "-i",
        "-u",
        "-k5",
        "-b",
        "A=b",
        "5",
        "exec",
        "'",
        "x",
        "--x=y",
    ]
)


@given(st.lists(WORDS, max_size=10))
def test_arbitrary_words_terminate(words):
    found = unwrap(Command(tuple(words)))
    assert bool(found.argv) == bool(words)
    assert len(found.through) <= len(words)


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("x.py -c 3", Call("script", "x.py")),
        ("-u -O x.py", Call("script", "x.py", ("-u", "-O"))),
        ("-m pkg.mod x", Call("module", "pkg.mod")),
        ("-Im pkg", Call("module", "pkg", ("-I",))),
        ("-mpkg", Call("module", "pkg")),
        ("-uc code", Call("code", "code", ("-u",))),
        ("-X dev -Wd x.py", Call("script", "x.py", ("-X", "dev", "-Wd"))),
        ("--version", Call("none", "", ("--version",))),
        ("-", Call("none")),
        ("", Call("none")),
        ("-m", Call("module", "")),
    ],
)
def test_python_calls(line, call):
    assert parse_call(tuple(line.split())) == call


def test_python_by_name():
    assert all(map(is_python, ("python", "python3", "python3.13", "python3.13t", "pypy3")))
    assert not any(map(is_python, ("python3-config", "ipython", "bpython", "pythonw.exe")))
