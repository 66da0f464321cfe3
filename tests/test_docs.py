"""Every Python block, command and notebook of README and docs runs, and prints what the page says it prints."""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from oleander.cli import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
PATTERN = re.compile(r"^```python\n(.*?)^```(?:\n\nIt prints:\n\n```text\n(.*?)^```)?", flags=re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
# Folders whose names are for the package itself.
INTERNAL = {"kernels"}
FOLDERS = {init.parent.name for init in (ROOT / "src" / "oleander").glob("*/__init__.py")}
PUBLIC = ("oleander", *(f"oleander.{folder}" for folder in sorted(FOLDERS - INTERNAL)))
GALLERY = sorted(page for page in (ROOT / "docs" / "gallery").glob("*.md") if page.name != "index.md")
WITH_COMMANDS = [page for page in PAGES if CONSOLE.search(page.read_text(encoding="utf-8"))]
# The blocks of a page with commands run before its commands, which read what they write.
BLOCKS = [
    pytest.param(*found, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES[1:]
    for number, found in enumerate(PATTERN.findall(page.read_text(encoding="utf-8")))
    if page not in GALLERY and (page not in WITH_COMMANDS or "import torch" in found[0])
]


@pytest.mark.slow
@pytest.mark.parametrize(("block", "printed"), BLOCKS)
def test_code_runs(block, printed, tmp_path, monkeypatch):
    if "import torch" in block:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    run_block(block, printed)


def run_block(block, printed):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block, "<docs>", "exec"), {"__name__": "docs"})
    if printed:
        assert out.getvalue() == printed


@pytest.fixture
def own_modules(tmp_path):
    """Forget the modules in the folder of a test, whose names other tests use too."""
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page, own_modules, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    text = page.read_text(encoding="utf-8")
    for block, printed in PATTERN.findall(text):
        if "import torch" not in block:
            run_block(block, printed)
    code, printed = 0, []
    for line in "".join(CONSOLE.findall(text)).splitlines():
        if line.startswith("$ "):
            code, printed = run_command(line.removeprefix("$ "), code)
        # Lines are shown in their order; the ones between them may be left out.
        elif line != "...":
            assert line in printed
            printed = printed[printed.index(line) + 1 :]


def run_command(line, code):
    """Return the exit code and the output of a command, behind one with the given code.

    The commands of Oleander and its examples run in this process, which need not start and load it each time.
    """
    words = shlex.split(line)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        if words[0] == "oleander":
            code = int(main(words[1:]))
        elif words[0] == "python" and words[1].startswith("examples/"):
            code = importlib.import_module(words[1].removesuffix(".py").replace("/", ".")).main(words[2:])
        elif words == ["echo", "$?"]:
            print(code)
        else:
            ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            print(ran.stdout, end="")
            code = ran.returncode
    return code, out.getvalue().splitlines()


@pytest.mark.slow
def test_tutorial_runs_and_its_stored_outputs_are_current():
    import nbformat

    stored = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    assert all(cell["outputs"] for cell in stored["cells"] if cell["cell_type"] == "code")
    fresh = load_script("run_tutorial").run_tutorial()
    assert json.loads(nbformat.writes(fresh)) == stored


@pytest.mark.slow
def test_readme_runs_from_top_to_bottom_and_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    blocks = [block for block, _ in PATTERN.findall(text)]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile("".join(blocks), "<README>", "exec"), {"__name__": "README"})
    shown = "".join(re.findall(r"^```text\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)).splitlines()
    # Three dots stand for lines that are left out.
    assert {line for line in shown if line != "..."} <= set(out.getvalue().splitlines())
    assert (tmp_path / "panels.png").exists()
    assert (tmp_path / "report.html").exists()


def test_the_picture_is_what_its_script_draws():
    assert (ROOT / "docs" / "ideas.svg").read_text(encoding="utf-8") == load_script("draw_ideas").draw()


@pytest.mark.slow
def test_the_rules_in_the_picture_are_those_of_the_quickstart():
    drawing = load_script("draw_rules")
    assert (ROOT / "docs" / "rules.svg").read_text(encoding="utf-8") == drawing.draw(drawing.fit_quickstart())


@pytest.mark.slow
@pytest.mark.parametrize("page", GALLERY, ids=lambda page: page.stem)
def test_examples_of_the_gallery_print_and_draw_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawing = load_script("draw_gallery")
    printed, shown, names = drawing.run(page)
    assert printed == shown
    assert page.with_suffix(".svg").read_text(encoding="utf-8") == drawing.draw(names["atlas"])


def test_examples_of_the_gallery_are_short_and_all_on_its_page():
    index = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    for page in GALLERY:
        (block, _), *others = PATTERN.findall(page.read_text(encoding="utf-8"))
        assert not others
        assert len(block.splitlines()) <= 40
        assert f"({page.name})" in index
        assert f"({page.stem}.svg)" in index


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_is_read_in_three_minutes():
    assert len(README.read_text(encoding="utf-8").split()) <= 600


def test_user_pages_take_two_screens():
    # Reference may be longer. Code and what it prints count as well.
    reference = {"mathematics.md", "the-paper.md", "api.md"}
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md"), *GALLERY]
    for page in pages:
        words = len(page.read_text(encoding="utf-8").split())
        assert words <= 950 or page.name in reference, f"{page.name}: {words} words; tables belong in docs/evidence"


@pytest.fixture(scope="module")
def documented():
    """Return the objects on the page of the API."""
    listed = re.findall(r"^::: (\S+)", (ROOT / "docs" / "api.md").read_text(), flags=re.MULTILINE)
    return {resolve(name) for name in listed}


def test_every_public_name_is_on_the_page_of_the_api(documented):
    for package in PUBLIC:
        module = importlib.import_module(package)
        assert {getattr(module, name) for name in getattr(module, "__all__", ())} <= documented, package


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_that_a_page_imports_is_on_the_page_of_the_api(page, documented):
    lines = re.findall(r"^from (oleander[\w.]*) import (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for module, names in lines:
        assert {resolve(f"{module}.{name.strip()}") for name in names.split(",")} <= documented


def resolve(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_tests_that_promises_name_are_there():
    known = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in [path.name, *re.findall(r"^ *def (test_\w+)", path.read_text(), flags=re.MULTILINE)]
    }
    named = set(re.findall(r"\btest_\w+(?:\.py)?", (ROOT / "docs" / "evidence" / "reliability.md").read_text()))
    assert not named - known


def test_every_decision_is_listed():
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text()
    for record in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert f"({record.name})" in listed


@pytest.mark.parametrize("page", ["the-paper.md", "evidence/studies/method.md"])
def test_modules_functions_and_tests_that_the_paper_is_mapped_to_are_there(page):
    for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
        content = ""
        for name in re.findall(r"`([\w/.]+)`", line) if line.startswith("|") else []:
            if "/" in name:
                paths = [ROOT / name, ROOT / "src" / "oleander" / name]
                assert any(path.exists() for path in paths), name
                content = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
            else:
                assert re.search(rf"^(?:def|class) {name}\b", content, flags=re.MULTILINE), f"{name} in {line}"
