"""Names of files on the hub."""

from pathlib import Path

import pytest

from notewell.adapters.embeddings.local.hub import (
    HUB,
    BadHubName,
    HubFile,
    models_folder,
)
from notewell.config import LocalSettings


def test_the_usual_model_is_where_openclaw_keeps_it() -> None:
    file = HubFile.parse(LocalSettings().model_path)

    folder = models_folder(None, Path("/home/me"))
    assert folder / file.local_name == Path(
        "/home/me/.node-llama-cpp/models/hf_ggml-org_embeddinggemma-300M-Q8_0.gguf"
    )


@pytest.mark.parametrize(
    "reference",
    ["hf:me/zoo/cat.gguf", "hf://me/zoo/cat.gguf", "huggingface:me/zoo/cat.gguf"],
)
def test_a_name_is_an_address_and_a_page(reference: str) -> None:
    file = HubFile.parse(reference)

    assert file.address(HUB) == "https://huggingface.co/me/zoo/resolve/main/cat.gguf"
    assert file.page(HUB) == "https://huggingface.co/me/zoo"


def test_folders_and_revisions_belong_to_the_address() -> None:
    file = HubFile.parse("hf:me/zoo/small/cat.gguf#refs/pr/1")

    assert file.address(HUB).endswith("/me/zoo/resolve/refs%2Fpr%2F1/small/cat.gguf")


@pytest.mark.parametrize(
    "reference",
    [
        "hf:",
        "hf:me",
        "hf:me/zoo",
        "hf:me/zoo:Q8_0",
        "hf:me/zoo/cat.bin",
        "hf:me/zoo/../../cat.gguf",
        "hf:me/zoo/.hidden.gguf",
        "hf:me/../cat.gguf",
        "hf:me//cat.gguf",
        "hf:me/zoo/a\\b.gguf",
        "hf:me/zoo/cat.gguf#../main",
        "https://host/cat.gguf",
        "/models/cat.gguf",
    ],
)
def test_what_names_no_file_or_leads_elsewhere_is_refused(reference: str) -> None:
    with pytest.raises(BadHubName, match=r"<file>\.gguf"):
        HubFile.parse(reference)
