import hashlib
import os
import sys
import sysconfig
from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.machine.document import Program
from assay.machine.programs.program import find_program, inspect, with_observations
from assay.machine.programs.program_digest import program_digest
from assay.machine.root import Root
from assay.records import decode, encode
from narrow import narrow_program

ENV = {"PATH": "/usr/bin:/bin"}
MAIN = "int main() { return 0; }"


def sha(*paths):
    digests = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    )


def script(path, text, mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture(scope="session")
def linked(compiler, tmp_path_factory):
    """Programs that need ``libtop`` in ``lib``, which needs ``libgomp.so.1`` in ``deep``."""
    base = tmp_path_factory.mktemp("linked")
    gomp = compiler(
        base / "deep" / "libgomp.so.1",
        "int deep() { return 1; }",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libgomp.so.1",
    )
    top = compiler(
        base / "lib" / "libtop.so",
        "int deep(); int top() { return deep(); }",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libtop.so",
        str(gomp),
    )
    use = "int top(); int main() { return top(); }"
    both = "$ORIGIN/lib:${ORIGIN}/deep"
    quiet = ("-Wl,--allow-shlib-undefined", "-Wl,--unresolved-symbols=ignore-in-shared-libs")
    for name, tags, folders in (
        ("rpath", "--disable-new-dtags", both),
        ("runpath", "--enable-new-dtags", both),
    ):
        compiler(base / name, use, str(top), f"-Wl,{tags},-rpath,{folders}", *quiet)
    compiler(base / "bare", use, str(top), *quiet)
    return base


def test_dynamic_program(linked):
    program = inspect([str(linked / "rpath")], env=ENV)
    assert (program.kind, program.static, program.interpreter) == ("elf", False, None)
    assert program.path == str(linked / "rpath")
    assert program.loader is not None and "ld-" in program.loader
    assert str(linked / "lib" / "libtop.so") in program.libraries
    assert any(path.rpartition("/")[2].startswith("libc.so") for path in program.libraries)
    assert program.runtimes == {"gomp"}
    assert program.reasons == {"gomp": f"linked: {linked}/deep/libgomp.so.1"}


def touched(path, digest):
    """Return the digest with a new modification time of a file, which is then restored."""
    seen = Path(path).stat()
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))
    try:
        return digest()
    finally:
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def test_changed_library_changes_digest(linked):
    def digest():
        return inspect([str(linked / "rpath")], env=ENV).digest

    before = digest()
    assert len(before) == 64 and before != sha(linked / "rpath")
    assert touched(linked / "deep" / "libgomp.so.1", digest) != before
    assert digest() == before
    assert touched(linked / "bare", digest) == before


def test_single_file_has_its_own_digest(tmp_path):
    plain = script(tmp_path / "plain", "echo hello\n")
    assert inspect([str(plain)], env=ENV).digest == sha(plain)


def test_order_of_other_files_does_not_change_digest(tmp_path):
    paths = [str(script(tmp_path / name, name)) for name in ("a", "bb", "ccc")]
    files, beside = paths[:1], paths[1:]
    known = program_digest(Root(), files, beside, ("x-1", "y-2"))
    assert program_digest(Root(), files, [*beside[::-1], "/absent"], ("y-2", "x-1")) == known
    assert program_digest(Root(), files, beside, ("x-1", "y-3")) != known
    assert program_digest(Root(), files, beside[:1], ("x-1", "y-2")) != known
    assert program_digest(Root(), [*files, str(tmp_path)], beside) is None
    assert program_digest(Root(), [], beside) is None


def test_runpath_is_not_inherited(linked):
    # libtop finds libgomp through the program's DT_RPATH, but not through its DT_RUNPATH.
    program = inspect([str(linked / "runpath")], env=ENV)
    assert str(linked / "lib" / "libtop.so") in program.libraries
    assert f"{linked}/deep/libgomp.so.1" not in program.libraries


def test_library_path_of_the_command(linked):
    bare = str(linked / "bare")
    assert not any("libtop" in path for path in inspect([bare], env=ENV).libraries)
    words = ["env", f"LD_LIBRARY_PATH={linked}/lib:{linked}/deep", bare]
    program = inspect(words, env=ENV)
    assert f"{linked}/deep/libgomp.so.1" in program.libraries
    assert (program.argv0, program.path, program.through) == ("env", bare, ("env",))


def test_preloads_of_command_are_linked(linked):
    program = inspect(
        [sys.executable, "-V"], env=ENV | {"LD_PRELOAD": f"{linked}/deep/libgomp.so.1"}
    )
    assert program.reasons["gomp"] == f"linked: {linked}/deep/libgomp.so.1"


def test_static_program(compiler, tmp_path):
    path = compiler(tmp_path / "static", MAIN, "-static")
    program = inspect(["./static"], env=ENV, cwd=str(tmp_path))
    assert (program.path, program.kind, program.static) == (str(path), "elf", True)
    assert program.libraries == () and program.loader is None and program.runtimes == frozenset()


@pytest.mark.parametrize(
    "sanitizer",
    ["address", *(pytest.param(name, marks=pytest.mark.rotating) for name in ("thread", "leak"))],
)
def test_sanitizer_of_a_program_is_seen(compiler, tmp_path, sanitizer):
    path = compiler(tmp_path / "whole", MAIN, f"-fsanitize={sanitizer}")
    program = inspect([str(path)], env=ENV)
    assert program.sanitizers == (sanitizer,)
    assert decode(encode(program), Program) == program
    static = f"-static-lib{sanitizer[0]}san"
    for more in ((), ("-s",)):
        inside = compiler(tmp_path / "static", MAIN, f"-fsanitize={sanitizer}", static, *more)
        assert sanitizer in inspect([str(inside)], env=ENV).sanitizers, more


def test_sanitizer_names_outside_symbols_are_ignored(compiler, tmp_path):
    """Compilers contain these names, and the one without an allocator."""
    texts = ", ".join(f'"__{name}_init", "{name.upper()}_OPTIONS"' for name in ("asan", "lsan"))
    source = f"const char* volatile texts[] = {{{texts}}}; {MAIN}"
    for more in ((), ("-fsanitize=undefined",), ("-fsanitize=undefined", "-static-libubsan")):
        path = compiler(tmp_path / "texts", source, *more)
        assert inspect([str(path)], env=ENV).sanitizers == ()
    assert inspect([sys.executable], env=ENV).sanitizers == ()


def test_sanitizer_that_was_mapped_is_seen():
    maps = ["/usr/lib/libasan.so.8", "/usr/lib/clang/19/lib/linux/libclang_rt.hwasan-x86_64.so"]
    found = with_observations(Program(argv0="sh"), ["/usr/lib/libasanx.so", *maps])
    assert (found.sanitizers, found.sanitizers_seen) == ((), ("address", "hwaddress"))
    assert with_observations(found).sanitizers_seen == found.sanitizers_seen
    built = with_observations(Program(argv0="p", sanitizers=("address",)), maps)
    assert (built.sanitizers, built.sanitizers_seen) == (("address",), ("hwaddress",))


def test_machine_of_a_program_is_read(tmp_path):
    path = tmp_path / "narrow"
    path.write_bytes(narrow_program())
    path.chmod(0o755)
    program = inspect([str(path)], env=ENV)
    assert (program.elf_machine, program.elf_bits) == (3, 32)
    assert (program.static, program.loader) == (False, "/lib/ld-linux.so.2")


def test_runtimes_inside_the_file(compiler, tmp_path):
    marks = 'const char* volatile marks[] = {"GOMP_SPINCOUNT", "libgomp: "}; ' + MAIN
    whole = inspect([str(compiler(tmp_path / "whole", marks))], env=ENV)
    assert whole.reasons == {"gomp": "statically linked: the file contains GOMP_SPINCOUNT"}
    half = 'const char* volatile marks[] = {"GOMP_SPINCOUNT"}; ' + MAIN
    assert inspect([str(compiler(tmp_path / "half", half))], env=ENV).runtimes == frozenset()


def test_unknown_command_has_no_path():
    program = inspect(["no-such-program-here", "x"], env=ENV)
    missing = "no-such-program-here"
    assert program == Program(argv0=missing, missing=missing)
    inner = inspect(["nice", missing], env=ENV)
    assert inner.path is None and inner.through == ("nice",)
    outer = inspect(["nice", "/bin/true"], env={"PATH": "/nowhere"})
    assert outer.path is None


def test_empty_command_is_rejected():
    with pytest.raises(InvalidInputError):
        inspect([])


def test_path_is_searched_as_execvp_does(tmp_path):
    script(tmp_path / "a" / "prog", "#!/bin/sh\n", mode=0o644)
    script(tmp_path / "b" / "prog", "#!/bin/sh\n")
    (tmp_path / "c" / "prog").mkdir(parents=True)
    path = f"{tmp_path}/none:{tmp_path}/c:{tmp_path}/a:{tmp_path}/b"

    def found(word, path, cwd="/"):
        return find_program(Root(), word, {"PATH": path}, str(cwd))

    if os.geteuid() != 0:
        assert found("prog", f"{tmp_path}/a") is None
    assert found("prog", path) == f"{tmp_path}/b/prog"
    assert found("prog", "", tmp_path / "b") == f"{tmp_path}/b/prog"
    assert found("b/prog", "", tmp_path) == f"{tmp_path}/b/prog"
    assert found("prog", "b", tmp_path) == f"{tmp_path}/b/prog"
    assert found("", path) is None
    assert find_program(Root(), "sh", {}, "/") in ("/bin/sh", "/usr/bin/sh")


def test_shell_script(tmp_path):
    path = script(tmp_path / "run", "#!/bin/sh -e\nexec true\n")
    program = inspect([str(path)], env=ENV)
    assert (program.kind, program.interpreter, program.path) == ("script", "sh", str(path))
    assert program.digest != sha("/bin/sh", path) and program.libraries
    other = inspect(["sh", "run"], env=ENV, cwd=str(tmp_path))
    assert (other.kind, other.interpreter) == ("script", "sh")
    assert other.path in ("/usr/bin/sh", "/bin/sh")
    before = other.digest
    path.write_text("#!/bin/sh\nexec false\n")
    assert inspect(["sh", "run"], env=ENV, cwd=str(tmp_path)).digest != before


def test_simple_shell_commands_are_unwrapped(linked):
    program = inspect(["sh", "-c", f"A=1 exec {linked}/rpath x"], env=ENV)
    assert program.path == f"{linked}/rpath" and program.runtimes == {"gomp"}
    piped = inspect(["sh", "-c", f"{linked}/rpath | cat"], env=ENV)
    assert (piped.kind, piped.interpreter, piped.through) == ("script", "sh", ())


def test_scripts_with_missing_or_cyclic_interpreter_terminate(tmp_path):
    odd = script(tmp_path / "odd", "#!/no/such/interpreter\n")
    assert inspect([str(odd)], env=ENV).kind == "unknown"
    loop = script(tmp_path / "loop", f"#!{tmp_path}/loop\n")
    assert inspect([str(loop)], env=ENV).path == str(loop)
    plain = script(tmp_path / "plain", "echo hello\n")
    assert inspect([str(plain)], env=ENV).kind == "unknown"


def test_compressors_are_identified_by_name(compiler, tmp_path):
    compiler(tmp_path / "xz", MAIN)
    assert inspect([str(tmp_path / "xz")], env=ENV).runtimes == {"xz"}


@pytest.fixture
def site(tmp_path):
    """A directory of packages: ``alpha`` requires ``beta``, which bundles two runtimes."""
    folder = tmp_path / "site-packages"
    meta = "Metadata-Version: 2.1\nName: {0}\n{1}\n\nRequires-Dist: from-the-text\n"
    script(folder / "alpha_mod" / "__init__.py", "")
    script(
        folder / "Alpha_Dist-1.0.dist-info" / "METADATA",
        meta.format("a", 'Requires-Dist: Beta (>=1)\nRequires-Dist: gamma; extra == "x"'),
    )
    script(folder / "Alpha_Dist-1.0.dist-info" / "RECORD", "alpha_mod/__init__.py,,\n")
    script(folder / "beta" / "__init__.py", "")
    script(folder / "beta-2.0.dist-info" / "METADATA", meta.format("beta", ""))
    script(
        folder / "beta-2.0.dist-info" / "RECORD",
        "beta/__init__.py,,\nbeta.libs/libscipy_openblas64_-3a4b.so,sha256=x,9\n"
        "beta.libs/libgomp-a34b3233.so.1.0.0,,\n",
    )
    script(folder / "gamma" / "__init__.py", "")
    script(folder / "gamma-1.dist-info" / "METADATA", meta.format("gamma", ""))
    script(folder / "gamma-1.dist-info" / "RECORD", "gamma/libtbb.so.12,,\n")
    script(folder / "solo" / "lib" / "libtorch_cpu.so", "")
    return folder


BETA = {
    "gomp": "beta bundles libgomp-a34b3233.so.1.0.0",
    "openblas": "beta bundles libscipy_openblas64_-3a4b.so",
}


def python(site, *words, cwd=None):
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site)}
    return inspect([sys.executable, *map(str, words)], env=env, cwd=str(cwd or site.parent))


def test_python_script_with_bundled_libraries(site, tmp_path):
    path = script(
        tmp_path / "main.py", "import os, beta.sub as b\nfrom json import x\nimport absent\n"
    )
    program = python(site, "-u", path, "arg")
    assert (program.kind, program.interpreter) == ("script", Path(sys.executable).name)
    assert program.packages == ("beta",)
    assert program.reasons == BETA and program.runtimes == {"gomp", "openblas"}
    assert program.path == sys.executable


def test_requirements_of_package_are_included(site, tmp_path):
    path = script(tmp_path / "main.py", "import alpha_mod\n")
    program = python(site, path)
    assert program.packages == ("alpha_mod",)
    assert program.reasons == {
        name: f"alpha_mod needs {reason.replace(' ', ', which ', 1)}"
        for name, reason in BETA.items()
    }


def test_changed_packages_change_digest(site):
    def digest():
        return python(site, "-c", "import alpha_mod").digest

    before = digest()
    script(site / "beta.libs" / "libgomp-a34b3233.so.1.0.0", "")
    bundled = digest()
    assert bundled != before
    assert touched(site / "beta.libs" / "libgomp-a34b3233.so.1.0.0", digest) != bundled
    (site / "gamma-1.dist-info").rename(site / "gamma-2.dist-info")
    assert digest() == bundled, "what is not imported does not count"
    (site / "beta-2.0.dist-info").rename(site / "beta-2.1.dist-info")
    assert digest() != bundled


def test_package_without_version_is_identified_by_file(site):
    script(site / "solo" / "__init__.py", "")

    def digest():
        return python(site, "-c", "import solo").digest

    before = digest()
    assert touched(site / "solo" / "__init__.py", digest) != before
    assert digest() == before


def test_packages_without_metadata(site, tmp_path):
    program = python(site, "-c", "import solo")
    assert program.reasons == {"onednn": "solo bundles libtorch_cpu.so"}


def test_local_modules_are_followed(site, tmp_path):
    script(tmp_path / "pkg" / "__init__.py", "from . import inner\n")
    script(tmp_path / "pkg" / "inner.py", "from .deeper import x\n")
    script(tmp_path / "pkg" / "deeper.py", "def f():\n    import beta\n")
    script(tmp_path / "helper.py", "if TYPE_CHECKING:\n    import gamma\nelse:\n    import pkg\n")
    path = script(tmp_path / "main.py", "import helper\n")
    program = python(site, path)
    assert program.packages == ("beta",)
    (tmp_path / "pkg" / "deeper.py").write_text("import beta  # changed\n")
    assert python(site, path).digest != program.digest


@pytest.mark.parametrize(
    "words", [("-m", "tool"), ("-c", "import tool"), ("-c", "__import__('tool')")]
)
def test_imports_of_modules_and_code_are_found(site, tmp_path, words):
    script(tmp_path / "tool" / "__init__.py", "import importlib\nimportlib.import_module('beta')\n")
    script(tmp_path / "tool" / "__main__.py", "")
    assert python(site, *words, cwd=tmp_path).packages == ("beta",)
    assert python(site, "-m", "beta").packages == ("beta",)


@pytest.mark.parametrize("words", [(), ("-m",), ("-c",), ("-",), ("absent.py",)])
def test_calls_without_code_have_no_packages(site, words):
    assert python(site, *words).packages == ()


def test_unparsable_source_has_no_packages(site, tmp_path):
    path = script(tmp_path / "old.py", "print 'two'\nimport beta\n")
    program = python(site, path)
    assert program.packages == () and program.digest is not None


@pytest.mark.parametrize("line", ["{python}", "/usr/bin/env -S {python} -u", "/usr/bin/env {name}"])
def test_python_of_shebang_is_found(site, tmp_path, line):
    executable = Path(sys.executable)
    line = line.format(python=executable, name=executable.name)
    path = script(tmp_path / "main", f"#!{line}\nimport beta\n")
    env = {"PATH": f"{executable.parent}:/usr/bin:/bin", "PYTHONPATH": str(site)}
    program = inspect(["./main"], env=env, cwd=str(tmp_path))
    assert (program.path, program.packages) == (str(path), ("beta",))
    assert program.interpreter == executable.name and program.kind == "script"


def test_interpreter_behind_a_script_of_its_name(site, tmp_path):
    shim = script(tmp_path / "bin" / "python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    env = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PYTHONPATH": str(site)}
    program = inspect(["python3", "-c", "import beta"], env=env)
    assert program.path == str(shim) and program.packages == ("beta",)
    assert program.libraries == inspect([sys.executable], env=ENV).libraries


def test_modules_of_working_directory_do_not_affect_query(site, tmp_path):
    script(tmp_path / "ast.py", "raise SystemExit('shadowed')\n")
    script(tmp_path / "json.py", "raise SystemExit('shadowed')\n")
    assert python(site, "-c", "import beta", cwd=tmp_path).packages == ("beta",)


def test_unresponsive_interpreter_uses_default_directories(site, tmp_path):
    broken = script(tmp_path / "python3", "#!/bin/sh\necho nonsense; exit 3\n")
    program = inspect([str(broken), "-c", "import beta"], env=ENV)
    assert program.path == str(broken) and program.packages == ("beta",)


def test_extension_modules_list_linked_libraries(compiler, linked, tmp_path):
    folder = tmp_path / "site-packages"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    gomp = f"{linked}/deep/libgomp.so.1"
    compiler(
        folder / "native" / f"_core{suffix}",
        "int deep(); int f() { return deep(); }",
        "-shared",
        "-fPIC",
        gomp,
        f"-Wl,-rpath,{linked}/deep",
    )
    script(folder / "native" / "__init__.py", "")
    program = python(folder, "-c", "import native")
    assert program.reasons == {"gomp": f"native links {gomp}"}


def test_recorded_tree_is_not_run(tree, tmp_path):
    site = "/usr/lib/python3.11/site-packages"
    ran = tmp_path / "ran"
    root = tree(
        {
            "/usr/bin/python3": f"#!/bin/sh\ntouch {ran}\n",
            "/w.py": "import beta",
            f"{site}/beta/libopenblas.so.0": "",
        }
    )
    root.on_host("/usr/bin/python3").chmod(0o755)
    program = inspect(["python3", "w.py"], root, ENV)
    assert program.packages == ("beta",) and not ran.exists()
    assert program.reasons == {"openblas": "beta bundles libopenblas.so.0"}


def test_observations_are_added():
    known = Program(
        argv0="x",
        libraries=("/lib/libc.so.6",),
        packages=("numpy",),
        runtimes=frozenset({"openblas", "gomp"}),
        reasons={"openblas": "numpy bundles it", "gomp": "linked"},
        threads_peak=3,
    )
    maps = (
        "/lib/libc.so.6",
        "/v/lib/python3.11/site-packages/sklearn/x.cpython-311.so",
        "/v/lib/python3.11/site-packages/scipy.libs/libscipy_openblas-1.so",
        "/usr/lib/libjemalloc.so.2 (deleted)",
        "/usr/lib/locale/locale-archive",
        "[heap]",
    )
    seen = with_observations(known, maps, threads_peak=2, peak_anon_bytes=10**6)
    assert seen.libraries == (
        "/lib/libc.so.6",
        "/usr/lib/libjemalloc.so.2",
        "/v/lib/python3.11/site-packages/scipy.libs/libscipy_openblas-1.so",
        "/v/lib/python3.11/site-packages/sklearn/x.cpython-311.so",
    )
    assert seen.packages == ("numpy", "sklearn")
    assert seen.runtimes == {"openblas", "gomp", "jemalloc"}
    assert seen.reasons == {
        "gomp": "linked",
        "jemalloc": "mapped in the run: /usr/lib/libjemalloc.so.2",
        "openblas": f"mapped in the run: {seen.libraries[2]}",
    }
    assert (seen.threads_peak, seen.peak_anon_bytes) == (3, 10**6)
    assert with_observations(known) == known


def test_predicted_libraries_match_loader_maps(linked):
    """The running program's own maps contain every predicted library."""
    program = inspect([sys.executable, "-c", "x"], env=dict(os.environ))
    lines = Path("/proc/self/maps").read_text().splitlines()
    mapped = {line.split(None, 5)[5] for line in lines if "/" in line}
    assert program.libraries and set(program.libraries) <= mapped


def test_program_round_trips_json(linked):
    program = inspect([str(linked / "rpath")], env=ENV)
    assert decode(encode(program), Program) == program


def test_program_files_are_found_behind_wrappers_and_shebangs(tmp_path):
    tool = script(tmp_path / "tool", "#!/bin/sh\n")
    assert set(inspect(["nice", str(tool), "x"], env=ENV).files) == {"/bin/sh", str(tool)}
    code = script(tmp_path / "code.py", "import os\n")
    assert set(inspect([sys.executable, str(code)], env=ENV).files) == {sys.executable, str(code)}
    assert inspect(["no-such-program-here"], env=ENV).files == ()
