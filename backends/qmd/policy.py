"""What the settings under `memory.qmd` mean. Nothing of QMD is loaded to know it."""

from collections.abc import Mapping
from typing import ClassVar, Final

from notewell.backends.policy import Limit, Policy, Switch
from notewell.config import ScopeSettings
from notewell.errors import BackendError, PathRefused
from notewell.types import NarrowedPath
from notewell.workspace import Workspace, locate

_PROGRAM_SECONDS: Final = 20.0


class QmdPolicy(Policy):
    """Limits, scope and paths of QMD's own."""

    modes: ClassVar[Mapping[str, Mapping[str, object]]] = {
        mode: {"memory.qmd.searchMode": mode} for mode in ("search", "vsearch", "query")
    }
    denied = "memory.qmd.scope does not allow memory in this conversation."

    @property
    def max_results(self) -> int:
        """The most results of an answer, unless a call says otherwise."""
        return self.settings.memory.qmd.limits.max_results

    @property
    def max_injected_chars(self) -> Limit:
        """What limits the characters of notes in an answer to a model."""
        most = self.settings.memory.qmd.limits.max_injected_chars
        return Limit("memory.qmd.limits.maxInjectedChars", most)

    @property
    def extra_paths(self) -> tuple[str | NarrowedPath, ...]:
        """What is read beside the workspace; QMD has paths of its own."""
        own = (each.path for each in self.settings.memory.qmd.paths)
        return (*super().extra_paths, *own)

    @property
    def scope(self) -> ScopeSettings:
        """In which conversations memory may be seen."""
        return self.settings.memory.qmd.scope

    @property
    def transcripts(self) -> Switch:
        """The switch for transcripts."""
        on = self.settings.memory.qmd.sessions.enabled
        return Switch("memory.qmd.sessions.enabled", on)

    @property
    def refresh_seconds(self) -> float:
        """As long as an update may take."""
        return self.settings.memory.qmd.update.update_timeout_ms / 1000

    def left_out(self, workspace: Workspace, path: str) -> str | None:
        """Say that a file lies where some files only are read, and is none of them.

        The workspace's own memory is always read by name, as in OpenClaw.
        """
        paths = self.settings.memory.qmd.paths
        if not any(each.pattern for each in paths):
            return None
        from notewell.backends.qmd.paths import is_outside_patterns

        if not is_outside_patterns(workspace, paths, path):
            return None
        try:
            locate(Workspace(root=workspace.root), path, exactly=True)
        except PathRefused:
            return "the pattern in memory.qmd.paths leaves it out"
        return None

    def why_unavailable(self, environ: Mapping[str, str]) -> str | None:
        """Look for the program, and ask it for its version."""
        import asyncio
        from pathlib import Path
        from tempfile import TemporaryDirectory

        from notewell.backends.qmd.program import child_environment, find_program

        with TemporaryDirectory(prefix="notewell-qmd-") as folder:
            try:
                asyncio.run(
                    find_program(
                        self.settings.memory.qmd.command,
                        child_environment(environ),
                        folder=Path(folder),
                        within=_PROGRAM_SECONDS,
                    )
                )
            except BackendError as error:
                return error.message
        return None
