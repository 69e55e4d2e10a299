"""What happens around every call: credentials, translation of errors, one line of log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import grpc
from grpc_status import rpc_status

from kb.errors import ProofweaveError

from .auth import requester
from .settings import AuthSection
from .status import status_of

LOG = logging.getLogger("proofweave.calls")

OPEN_TO_ALL = ("/grpc.health.v1.Health/", "/grpc.reflection.v1alpha.ServerReflection/")

# grpc's handlers are not generic in their messages, hence Any in this file.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class CallInterceptor(grpc.ServerInterceptor):
    """Checks credentials, turns errors into statuses, and logs how each call ended.

    Errors of our own trees keep their message; any other error is logged in full and answered
    neutrally.
    """

    def __init__(self, auth: AuthSection) -> None:
        self._auth = auth

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Handler | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Wrap the handler of the called method."""
        handler = continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(OPEN_TO_ALL):
            return handler
        kinds = {
            (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
            (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
            (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
            (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
        }
        name, make = kinds[bool(handler.request_streaming), bool(handler.response_streaming)]
        behaviour = getattr(handler, name)
        wrapped = (
            self._around_stream(behaviour, method)
            if handler.response_streaming
            else self._around_one(behaviour, method)
        )
        return make(
            wrapped,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _around_one(
        self, behaviour: Callable[[Any, grpc.ServicerContext], Any], method: str
    ) -> Callable[[Any, grpc.ServicerContext], Any]:
        def call(request: Any, context: grpc.ServicerContext) -> Any:
            began = time.monotonic()
            try:
                requester(self._auth, context.invocation_metadata())
                response = behaviour(request, context)
            except Exception as error:  # every error ends here, translated
                self._fail(error, method, began, context)
            self._log(method, "OK", began)
            return response

        return call

    def _around_stream(
        self, behaviour: Callable[[Any, grpc.ServicerContext], Iterator[Any]], method: str
    ) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
        def call(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            began = time.monotonic()
            try:
                requester(self._auth, context.invocation_metadata())
                yield from behaviour(request, context)
            except Exception as error:  # every error ends here, translated
                self._fail(error, method, began, context)
            self._log(method, "OK", began)

        return call

    def _fail(
        self, error: Exception, method: str, began: float, context: grpc.ServicerContext
    ) -> None:
        """Abort the call; never returns, since `abort` raises."""
        if isinstance(error, ProofweaveError):
            status = status_of(error)
            self._log(method, error.code, began)
            context.abort_with_status(rpc_status.to_status(status))
        if not context.is_active() or type(error) is Exception:
            raise error  # the call is gone, or grpc's own abort passes through
        LOG.exception("%s failed", method)
        context.abort(grpc.StatusCode.INTERNAL, "internal error; the server's log has the details")

    def _log(self, method: str, outcome: str, began: float) -> None:
        LOG.info("%s %s %.1f ms", method, outcome, (time.monotonic() - began) * 1000)
