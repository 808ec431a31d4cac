"""Other packages offer providers by entry point."""

import sys
from pathlib import Path

import pytest

from notewell.adapters.embeddings.choose import choose_providers
from notewell.config import load_settings
from notewell.errors import ConfigError

MODULE = """
from notewell.adapters.embeddings.base import Provider
from notewell.adapters.embeddings.request import Request  # its former name

def provider(request: Request) -> Provider:
    return Provider(name=request.name, remote=True, host="acme.example", open=None)
"""


def install(folder: Path, package: str, name: str) -> None:
    """Put a distribution there that offers a provider of that name."""
    (folder / f"{package}.py").write_text(MODULE, encoding="utf-8")
    info = folder / f"{package}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {package}\nVersion: 1\n", encoding="utf-8")
    entry = f"[notewell.embeddings]\n{name} = {package}:provider\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")


def chosen_host(home: Path, name: str) -> str:
    file = home / "openclaw.json"
    text = f'{{agents: {{defaults: {{memorySearch: {{provider: "{name}"}}}}}}}}'
    file.write_text(text, encoding="utf-8")
    settings = load_settings(config_file=file, environ={}, home=home)
    choice = choose_providers(settings, settings.agent(None), {}, configured=True)
    assert choice.first is not None
    return choice.first.host


def test_a_provider_of_another_package_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "acme_vectors", "acme")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    assert chosen_host(tmp_path, "acme") == "acme.example"


def test_a_name_that_two_packages_offer_is_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "one_vectors", "acme")
    install(tmp_path, "other_vectors", "acme")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with pytest.raises(ConfigError, match="two installed packages"):
        chosen_host(tmp_path, "acme")


def test_nobody_takes_the_name_of_a_provider_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "sly_vectors", "openai")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    assert chosen_host(tmp_path, "openai") == "api.openai.com"
