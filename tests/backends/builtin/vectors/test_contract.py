"""What `notewell.backends.base` promises, on every way of comparing vectors."""

from dataclasses import replace
from typing import ClassVar, Self

import msgspec
import pytest
from tests.backends.builtin.vectors.conftest import Concepts

from notewell.adapters.embeddings.base import ProviderChoice
from notewell.backends.base import PLAIN_RUN, Run, Site
from notewell.backends.builtin.engine import BuiltinBackend
from notewell.backends.builtin.vectors import nearest
from notewell.backends.contract import BackendContract
from notewell.types import IndexReport


class ByMeaning(BuiltinBackend):
    """The engine with vectors, which every run makes."""

    in_database: ClassVar[bool] = True

    @classmethod
    async def open(cls, site: Site) -> Self:
        search = site.agent.search
        vector = msgspec.structs.replace(search.store.vector, enabled=cls.in_database)
        store = msgspec.structs.replace(search.store, vector=vector)
        # What only resembles is not what these tests ask for.
        query = msgspec.structs.replace(search.query, min_score=1.0)
        search = msgspec.structs.replace(search, query=query)
        agent = msgspec.structs.replace(
            site.agent, search=msgspec.structs.replace(search, store=store)
        )
        choice = ProviderChoice(first=Concepts().provider())
        return await super().open(replace(site, agent=agent, embedding=choice))

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        if run.within is None:  # else no vector is made of half an index
            run = replace(run, vectors="all")
        return await super().refresh(run)


class InProcess(ByMeaning):
    """The same, with vectors compared in the process."""

    in_database = False


@pytest.fixture
def codes_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let codes choose what is compared however few vectors there are."""
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)


@pytest.mark.usefixtures("codes_decide")
class TestBySqliteVec(BackendContract):
    engine = ByMeaning


class TestOneByOneInSql(BackendContract):
    engine = ByMeaning


@pytest.mark.usefixtures("codes_decide")
class TestByBlocks(BackendContract):
    engine = InProcess


class TestOneByOneInProcess(BackendContract):
    engine = InProcess
