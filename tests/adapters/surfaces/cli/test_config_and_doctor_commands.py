"""`notewell config` and `notewell doctor`."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


def config_file(folder: Path, text: str) -> str:
    file = folder / "openclaw.json"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_every_setting_has_its_origin(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(tmp_path, '{memory: {citations: "off"}}')

    value = run(
        "config", "--json", "--config", file, env={"NOTEWELL_OFFLINE": "1"}
    ).value

    settings = {
        item["key"]: (item["value"], item["origin"]) for item in value["values"]
    }
    assert value["file"] == file
    assert settings["memory.citations"] == ("off", "file")
    assert settings["memory.offline"] == (True, "environment NOTEWELL_OFFLINE")
    assert settings["memory.backend"] == ("builtin", "default")
    assert settings["agents.defaults.workspace"][1] == "flag"


def test_people_see_settings_in_groups(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(tmp_path, '{memory: {citations: "off"}}')

    lines = run("config", "--config", file).text.splitlines()

    assert lines[0] == f"file {file}"
    assert "memory" in lines
    [citations] = [line.split() for line in lines if line.startswith("  citations")]
    assert citations == ["citations", '"off"', "file"]


def test_an_unknown_key_is_a_warning_on_stderr(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(tmp_path, '{memory: {citatoins: "on"}}')

    ran = run("config", "--config", file)

    assert ran.code == 0
    assert "citations" in ran.said
    assert run("config", "--json", "--config", file).value["warnings"]


def test_what_this_version_lacks_is_said(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(tmp_path, "{memory: {search: {sources: ['sessions']}}}")

    ran = run("config", "--config", file)

    assert "Transcripts need" in ran.said


def test_what_is_lacking_and_what_is_not_used_is_said_once_for_all_agents(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(
        tmp_path,
        """{
            memory: {search: {sources: ["sessions"], multimodal: {enabled: true}}},
            agents: {list: [{id: "main"}, {id: "tea"}]},
        }""",
    )

    said = run("config", "--config", file).said.splitlines()
    warnings = run("config", "--json", "--config", file).value["warnings"]

    lacking, unused = warnings
    assert "Transcripts need" in lacking
    assert unused.startswith("memory.search.multimodal is a setting of OpenClaw")
    assert said == [f"warning: {lacking}", f"warning: {unused}"]


def test_every_line_of_the_settings_fits_a_narrow_terminal(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(
        tmp_path,
        json.dumps(
            {"memory": {"search": {"extraPaths": ["/a/long/folder/of/notes"] * 9}}}
        ),
    )

    text = run("config", "--config", file).text

    lines = text.splitlines()
    assert max(map(len, lines[1:])) <= 80  # the first names the file
    assert "embeddinggemma-300M-Q8_0.gguf" in text.replace("\n", "").replace(" ", "")


def test_what_is_changed_can_be_seen_alone(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(tmp_path, '{memory: {citations: "off"}}')

    plain = run("config", "--changed", "--config", file)
    value = run("config", "--changed", "--json", "--config", file, workspace=None).value

    assert '  citations  "off"  file' in plain.text
    assert "backend" not in plain.text
    assert [each["key"] for each in value["values"]] == ["memory.citations"]


@pytest.mark.parametrize(
    ("asked", "key", "example"),
    [
        ("memory.offline", "memory.offline", "{memory: {offline: false}}"),
        ("OFFLINE", "memory.offline", "{memory: {offline: false}}"),
        (
            "memory.search.provider",
            "agents.defaults.memorySearch.provider",
            '{agents: {defaults: {memorySearch: {provider: "ollama"}}}}',
        ),
        (
            "models.providers.openai.apiKey",
            "models.providers.openai.apiKey",
            '{models: {providers: {openai: {apiKey: "…"}}}}',
        ),
    ],
)
def test_one_setting_is_shown_with_how_to_set_it(
    run: "Notewell", tmp_path: Path, asked: str, key: str, example: str
) -> None:
    file = config_file(tmp_path, '{memory: {search: {provider: "ollama"}}}')

    text = run("config", "get", asked, "--config", file).text
    value = run("config", "get", asked, "--json", "--config", file).value

    assert text.startswith(f"{key}\n")
    assert f"set it with  {example}\n" in text
    assert "notewell.json5" in text
    assert (value["key"], value["example"]) == (key, example)


def test_a_setting_with_a_slip_or_of_several_meanings_is_answered_with_names(
    run: "Notewell",
) -> None:
    slip, several = run("config", "get", "ofline"), run("config", "get", "maxResults")

    assert (slip.code, several.code) == (2, 2)
    assert "did you mean memory.offline?" in slip.said
    assert "memory.qmd.limits.maxResults" in several.said


def test_a_key_is_never_shown(run: "Notewell", tmp_path: Path) -> None:
    file = config_file(
        tmp_path,
        '{agents: {defaults: {memorySearch: {remote: {apiKey: "sk-very-secret"}}}}}',
    )

    for line in (["config"], ["config", "--json"], ["doctor"], ["doctor", "--json"]):
        ran = run(*line, "--config", file)
        assert b"sk-very-secret" not in ran.out + ran.err


def test_a_healthy_machine_has_no_problem(run: "Notewell") -> None:
    run("index")

    plain, value = run("doctor"), run("doctor", "--json")

    assert plain.code == 0
    assert value.value["ok"] is True
    names = [check["name"] for check in value.value["checks"]]
    assert names == [
        "python",
        "sqlite",
        "full text",
        "mcp",
        "terminal",
        "configuration",
        "state folder",
        "disk",
        "workspace",
        "vector search",
        "vectors",
        "embedding",
        "index",
    ]
    assert all(
        set(check) == {"name", "status", "detail", "remedy"}
        for check in value.value["checks"]
    )


def test_what_agents_need_is_looked_for(run: "Notewell") -> None:
    checks = run("doctor", "--json").value["checks"]

    [mcp] = [check for check in checks if check["name"] == "mcp"]
    assert mcp["status"] == "ok"
    assert mcp["detail"] == f"mcp {version('mcp')} for `notewell mcp`"


def test_a_provider_that_is_switched_off_is_named_too(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, '{memory: {search: {provider: "none"}}}')

    checks = run("doctor", "--json", "--config", file).value["checks"]

    [embedding] = [check for check in checks if check["name"] == "embedding"]
    assert (embedding["status"], embedding["remedy"]) == ("ok", None)
    assert embedding["detail"].startswith("none, as memorySearch.provider says")


def test_a_broken_configuration_is_a_problem_and_not_the_end(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, "{memory: {backend: 5}}")

    ran = run("doctor", "--json", "--config", file)

    checks = {check["name"]: check for check in ran.value["checks"]}
    assert (ran.code, ran.value["ok"]) == (1, False)
    assert checks["configuration"]["status"] == "problem"
    assert "memory.backend" in checks["configuration"]["detail"]
    assert checks["configuration"]["remedy"]
    assert checks["python"]["status"] == "ok"


def test_a_workspace_that_is_not_there_is_a_problem_with_a_remedy(
    run: "Notewell", tmp_path: Path
) -> None:
    ran = run("doctor", workspace=tmp_path / "nowhere")

    assert ran.code == 1
    assert "problem  workspace: " in ran.text
    assert "1 problem" in ran.text.splitlines()[-1]


def test_a_state_folder_that_others_can_write_is_a_warning(
    run: "Notewell", environ: dict[str, str]
) -> None:
    state = Path(environ["OPENCLAW_STATE_DIR"])
    state.mkdir()
    state.chmod(0o777)

    ran = run("doctor", "--json")

    [check] = [item for item in ran.value["checks"] if item["name"] == "state folder"]
    assert (ran.code, check["status"]) == (0, "warning")
    assert check["remedy"] == f"chmod 700 {state}"


def test_a_file_in_place_of_the_state_folder_is_a_problem(
    run: "Notewell", environ: dict[str, str]
) -> None:
    Path(environ["OPENCLAW_STATE_DIR"]).write_bytes(b"")

    ran = run("doctor", "--json")

    [check] = [item for item in ran.value["checks"] if item["name"] == "state folder"]
    assert (ran.code, check["status"]) == (1, "problem")


def test_an_index_that_lags_behind_is_a_warning(run: "Notewell", notes: Path) -> None:
    run("index")
    (notes / "memory" / "new.md").write_bytes(b"new\n")

    ran = run("doctor", "--json")

    [check] = [item for item in ran.value["checks"] if item["name"] == "index"]
    assert (ran.code, check["status"], check["remedy"]) == (
        0,
        "warning",
        "notewell index",
    )


def test_a_locale_without_utf8_is_a_warning(run: "Notewell") -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    ran = run("doctor", "--json", env=ascii_only)

    [check] = [item for item in ran.value["checks"] if item["name"] == "terminal"]
    assert check["status"] == "warning"


def test_an_engine_that_answers_no_search_is_a_problem_with_a_remedy(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, '{memory: {backend: "qmd", fallback: "none"}}')

    ran = run("doctor", "--json", "--config", file)

    [check] = [item for item in ran.value["checks"] if item["name"] == "search"]
    assert (ran.code, ran.value["ok"], check["status"]) == (1, False, "problem")
    assert check["detail"].startswith("no search is answered: qmd")
    assert check["remedy"].startswith("install it with `npm install")


def test_an_engine_that_another_one_stands_in_for_is_a_warning(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, '{memory: {backend: "qmd"}}')

    ran = run("doctor", "--json", "--config", file)

    [check] = [item for item in ran.value["checks"] if item["name"] == "engine"]
    assert (ran.code, check["status"]) == (0, "warning")
    assert check["detail"].startswith("builtin stands in for qmd: qmd: there is no")
    assert check["remedy"].startswith("install it with `npm install")


def test_a_configured_feature_that_is_lacking_is_a_warning(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, "{memory: {search: {sources: ['sessions']}}}")

    ran = run("doctor", "--json", "--config", file)

    [check] = [item for item in ran.value["checks"] if item["name"] == "features"]
    assert (ran.code, check["status"]) == (0, "warning")
    assert "Transcripts need" in check["detail"]


def test_a_provider_that_lacks_something_is_a_warning_with_the_remedy(
    run: "Notewell", tmp_path: Path
) -> None:
    file = config_file(tmp_path, '{memory: {search: {provider: "openai"}}}')

    ran = run("doctor", "--json", "--config", file)

    checks = [item for item in ran.value["checks"] if item["name"] == "embedding"]
    assert (ran.code, [check["status"] for check in checks]) == (0, ["warning", "ok"])
    assert "OPENAI_API_KEY" in checks[0]["remedy"]
    assert checks[1]["detail"].startswith("static, wordllama-0.4.0.post1, stands in, ")


@pytest.mark.parametrize(
    ("settings", "told"),
    [("{}", True), ('{memory: {search: {provider: "none"}}}', False)],
)
def test_what_comes_with_the_install_and_is_not_there_is_told(
    run: "Notewell",
    environ: dict[str, str],
    tmp_path: Path,
    settings: str,
    told: bool,
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "real = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'wordllama' else real(name)\n",
        encoding="utf-8",
    )
    path = {"PYTHONPATH": f"{hidden}{os.pathsep}{environ['PYTHONPATH']}"}
    file = config_file(tmp_path, settings)

    ran = run("doctor", "--json", "--config", file, env=path)
    answer = run("search", "gateway", "--json", "--config", file, env=path).value

    checks = [item for item in ran.value["checks"] if item["name"] == "embedding"]
    remedies = [check["remedy"] for check in checks if check["remedy"]]
    assert len(remedies) == told
    assert all(each.endswith("install wordllama==0.4.0.post1") for each in remedies)
    assert (ran.code, answer["mode"], answer["degraded"]) == (0, "keyword", False)
    assert [hit["path"] for hit in answer["results"]] == ["MEMORY.md"]


def test_an_extension_that_is_not_there_is_a_warning_with_the_remedy(
    run: "Notewell", tmp_path: Path
) -> None:
    text = "{memory: {search: {store: {vector: {extensionPath: '/nowhere/vec0'}}}}}"
    file = config_file(tmp_path, text)
    run("index", "--config", file)

    ran = run("doctor", "--json", "--config", file)

    [check] = [item for item in ran.value["checks"] if item["name"] == "vector search"]
    assert (ran.code, check["status"]) == (0, "warning")
    assert check["detail"] == "in-process: there is no sqlite-vec at /nowhere/vec0"
    assert "install sqlite-vec==0.1.9, or set " in check["remedy"]


def test_a_doctor_builds_no_index(run: "Notewell", environ: dict[str, str]) -> None:
    run("doctor")

    assert not list(Path(environ["OPENCLAW_STATE_DIR"]).rglob("*.sqlite"))


def test_a_doctor_names_the_file_that_is_laid_over_the_others(
    run: "Notewell", environ: dict[str, str]
) -> None:
    own = Path(environ["OPENCLAW_STATE_DIR"], "notewell.json5")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("{}", encoding="utf-8")

    checks = run("doctor", "--json").value["checks"]

    [check] = [each for each in checks if each["name"] == "configuration"]
    assert check["detail"].endswith(str(own))


def test_a_default_workspace_is_marked_only_when_it_is_not_there(
    run: "Notewell", environ: dict[str, str]
) -> None:
    missing = run("config", workspace=None).text
    Path(environ["HOME"], ".openclaw", "workspace").mkdir(parents=True)
    there = run("config", workspace=None).text

    mark = "default (not there; the current folder is read)"
    assert missing.count(mark) == 1
    assert mark not in there
