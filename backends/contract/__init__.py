"""The promises of `notewell.backends.base`, as tests that an engine inherits.

In the test suite of an engine, with pytest and pytest-asyncio (in its mode `auto`,
or with `pytestmark = pytest.mark.asyncio`):

    class TestMyEngine(BackendContract):
        engine = MyEngine

Every test gets a new folder of notes. An engine that wants other settings than the
usual ones overrides `site`.
"""

from notewell.backends.contract.answers import AnswersContract
from notewell.backends.contract.case import NOTES, QUERIES, Case
from notewell.backends.contract.filtered import FiltersContract
from notewell.backends.contract.in_memory import InMemoryBackend
from notewell.backends.contract.indexing import IndexingContract

__all__ = ["NOTES", "QUERIES", "BackendContract", "Case", "InMemoryBackend"]


class BackendContract(AnswersContract, FiltersContract, IndexingContract):
    """What every engine keeps. Inherit it and name the engine.

    Attributes:
        engine: The engine under test.
    """
