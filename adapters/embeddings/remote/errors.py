"""What an answer that is no success means, and what a person can do about it.

A server's own words are never repeated: they may hold a note's text or a key. Of what
it says only the codes below are understood, which are words of the protocols.
"""

import math
from dataclasses import dataclass
from typing import Final

from notewell.adapters.embeddings.base import EmbeddingSettings
from notewell.errors import EmbeddingError
from notewell.foreign import read_items, read_json, read_member

_KEY: Final = frozenset({"invalid_api_key", "API_KEY_INVALID", "PERMISSION_DENIED"})
_MODEL: Final = frozenset({"model_not_found", "invalid_model", "unknown_model"})
_QUOTA: Final = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_too_low",
        "account_deactivated",
    }
)
_A_DAY: Final = 86_400.0
_REFUSED: Final = frozenset({400, 413, 422, 500})
"""400 and 413 by most servers; text-embeddings-inference says 422 to a batch that is
too large, llama.cpp and older Ollamas say 500 to a text that is too long."""

_PASSING: Final = frozenset({408, 409, 425})


class Refusal(Exception):
    """The server does not want these texts together, or the only one of them."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """What a server answered with.

    Attributes:
        status: Of HTTP.
        body: Its bytes.
        retry_after: Seconds after which it asks to be tried again, or None.
    """

    status: int
    body: bytes = b""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMap:
    """Turns answers and broken connections into errors of one provider.

    Attributes:
        settings: What it was made from.
        host: Whom we asked.
        model: The model we asked for.
        pull: The command that gets a missing model, or empty.
        start: What to do when nothing answers.
    """

    settings: EmbeddingSettings
    host: str
    model: str
    pull: str = ""
    start: str = ""

    def error(
        self,
        message: str,
        *,
        reason: str,
        remedy: str,
        retry_after: float | None = None,
    ) -> EmbeddingError:
        """Return an error of this provider."""
        return EmbeddingError(
            self.settings.name,
            message,
            reason=reason,
            remedy=remedy,
            retry_after=retry_after,
        )

    def timeout(self, seconds: float) -> EmbeddingError:
        """Return the error for an answer that did not come in time."""
        message = f"no answer from {self.host} within {seconds:g} s"
        return self.error(message, reason="timeout", remedy=self.start)

    def broken(self) -> EmbeddingError:
        """Return the error for a connection that failed."""
        message = f"no connection to {self.host}, or it broke"
        return self.error(message, reason="network", remedy=self.start)

    def closed(self) -> EmbeddingError:
        """Return the error for a provider that was closed while it was asked."""
        message = f"it was closed while {self.host} was asked"
        return self.error(message, reason="not-ready", remedy="open it again")

    def unreadable(self) -> EmbeddingError:
        """Return the error for a success without a readable answer."""
        message = f"{self.host} answers with something that is not JSON"
        return self.error(message, reason="parse", remedy=self._address_remedy())

    def of(self, answer: HttpResponse) -> EmbeddingError | Refusal:
        """Return what an answer that is no success means."""
        codes = _codes(answer.body)
        lasting = self._lasting(answer.status, codes)
        if lasting is not None:
            return lasting
        if answer.status in _REFUSED:
            return Refusal(answer.status)
        if answer.status == 429:
            return self._temporary("allows no more requests now", "rate-limit", answer)
        said = f"answers with HTTP {answer.status}"
        if answer.status in _PASSING or answer.status >= 500:
            return self._temporary(said, "network", answer)
        if 300 <= answer.status < 400:
            said += ", a redirect, which is not followed"
        remedy = self._address_remedy()
        return self.error(f"{self.host} {said}", reason="parse", remedy=remedy)

    def of_request(self, refused: Refusal) -> EmbeddingError:
        """Return the error for a server that refuses even a harmless text."""
        return self.error(
            f"{self.host} refuses every text: HTTP {refused.status}",
            reason="network" if refused.status >= 500 else "bad-vector",
            remedy="check the model, outputDimensionality and the address",
        )

    def of_vector(self, numbers: int, wanted: int) -> EmbeddingError:
        """Return the error for a server whose vectors cannot be used."""
        what = f"vectors of {numbers} numbers instead of {wanted}"
        if numbers == wanted:
            what = "vectors that are zero or not finite"
        return self.error(
            f"{self.host} gives {what if numbers else 'no vector'}",
            reason="bad-vector",
            remedy="check the model and outputDimensionality",
        )

    def _lasting(self, status: int, codes: frozenset[str]) -> EmbeddingError | None:
        if status == 402 or codes & _QUOTA:
            return self.error(
                f"the quota at {self.host} is used up",
                reason="quota",
                remedy="check the plan and the billing of the account",
            )
        if status == 404 or codes & _MODEL:
            return self._missing_model()
        if status in (401, 403) or codes & _KEY:
            return self.error(
                f"{self.host} does not accept the API key",
                reason="auth",
                remedy=f"correct {self.settings.key.places}",
            )
        return None

    def _missing_model(self) -> EmbeddingError:
        remedy = "name a model that it has, and check its address"
        if self.pull:
            remedy = f"run `{self.pull} {self.model}`"
        elif self.settings.model_key:
            remedy = f"set {self.settings.model_key} to one that it has"
            if self.settings.endpoint:
                remedy += f", or correct {self.settings.endpoint_key}"
        message = f"{self.host} has no model {self.model!r}"
        return self.error(message, reason="model-missing", remedy=remedy)

    def _temporary(
        self, said: str, reason: str, answer: HttpResponse
    ) -> EmbeddingError:
        return self.error(
            f"{self.host} {said}",
            reason=reason,
            remedy="try again later",
            retry_after=answer.retry_after,
        )

    def _address_remedy(self) -> str:
        key = self.settings.endpoint_key
        return f"correct {key}" if key else "correct the address"


def _codes(body: bytes) -> frozenset[str]:
    """Return the words by which the protocols tell errors apart.

    OpenAI and most others: `error.code`, `error.type`. Mistral: `code`, `type`.
    Google: `error.status`, `error.details[].reason`; a quota of the day by its name.
    """
    try:
        answer = read_json(body)
    except ValueError:
        return frozenset()
    first = read_items(answer)[:1]  # Google's compatible interface answers with a list
    answer = first[0] if first else answer
    error = read_member(answer, "error")
    spots = [read_member(e, k) for e in (error, answer) for k in ("code", "type")]
    spots.append(read_member(error, "status"))
    for detail in read_items(read_member(error, "details")):
        spots.append(read_member(detail, "reason"))
        violations = read_items(read_member(detail, "violations"))
        if any("PerDay" in str(read_member(v, "quotaId")) for v in violations):
            spots.append("insufficient_quota")
    return frozenset(spot for spot in spots if isinstance(spot, str))


def seconds_from(header: str | None, *, now: float) -> float | None:
    """Read a Retry-After header: seconds, or a date.

    >>> seconds_from("2.5", now=0), seconds_from("soon", now=0)
    (2.5, None)
    >>> seconds_from("Thu, 01 Jan 1970 00:01:00 GMT", now=10)
    50.0
    """
    from email.utils import parsedate_to_datetime

    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _A_DAY)
