"""What every handler needs of its call: who asks, which knowledge base, how long."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from .auth import permit, requester
from .errors import DeadlinePassed
from .knowledge import Knowledge, KnowledgeBases
from .names import knowledge_base_of
from .settings import Settings


@dataclass(frozen=True, slots=True)
class Desk:
    """What the handlers of all services share; `now` is the one clock of receipts.

    `pause` sleeps for seconds.
    """

    bases: KnowledgeBases
    settings: Settings
    now: Callable[[], datetime.datetime]
    pause: Callable[[float], None]

    def requester(self, context: grpc.ServicerContext) -> str:
        """Give the name of who asks."""
        return requester(self.settings.auth, context.invocation_metadata())

    def knowledge(self, name: str, context: grpc.ServicerContext) -> Knowledge:
        """Give the knowledge base of a name, `-` for the only one, if the requester may use it."""
        found = self.bases.find(name)
        permit(self.settings.auth, self.requester(context), found.name)
        return found

    def parent(self, parent: str, context: grpc.ServicerContext) -> Knowledge:
        """Give the knowledge base of a request's `parent`."""
        return self.knowledge(knowledge_base_of(parent), context)

    def today(self) -> datetime.date:
        """Give the day of the request, the default of `valid_on`."""
        return self.now().date()

    def timestamp(self) -> Timestamp:
        """Give the time for a receipt."""
        stamp = Timestamp()
        stamp.FromDatetime(self.now())
        return stamp


def check_call(context: grpc.ServicerContext) -> None:
    """Raise DeadlinePassed where the caller is gone or its deadline has passed."""
    remaining = context.time_remaining()
    if not context.is_active() or (remaining is not None and remaining <= 0):
        raise DeadlinePassed("the deadline of the call passed, or the caller left")
