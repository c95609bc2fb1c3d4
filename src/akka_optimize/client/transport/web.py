"""gRPC-Web over HTTP/1.1, for networks that let nothing else through. Foreign errors are translated here alone."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from akka_optimize import __version__, errors
from akka_optimize.client.transport import told
from akka_optimize.client.transport.calls import Observe, trying
from akka_optimize.client.transport.frames import frame, messages, status_error, timeout_header
from akka_optimize.client.transport.proxies import proxy_for, without_credentials
from akka_optimize.client.transport.reasons import IF_TLS, Asked, by_http_status
from akka_optimize.protocol import SERVICE

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

    import httpx
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M

CONTENT_TYPE = "application/grpc-web+proto"
OURS = {CONTENT_TYPE, "application/grpc-web"}
DISCONNECTED = "Server disconnected without sending a response."  # httpcore's words, for a cut before the answer


class WebTransport:
    """One address. `hint` is what the user is told when nobody answers; `ca` a file of authorities to trust instead of
    the system's; `region` goes beside each call; `service` is whose methods they are; `observe` hears of every call.

    Raises Unauthenticated (a token that would go over an open network), WrongUsage (a proxy of no use, a bad `ca`).
    """

    def __init__(
        self,
        host: str,
        *,
        tls: bool,
        address: str,
        hint: str | None = None,
        token: str | None = None,
        ca: Path | None = None,
        region: str | None = None,
        service: str = SERVICE,
        observe: Observe | None = None,
    ) -> None:
        import httpx

        from akka_optimize.client.transport.bounded import BoundedTransport

        if token:
            told.require_safe_token(token, host, tls=tls, address=address)
        proxy = proxy_for(host, tls=tls)
        if proxy is not None:
            hint = f"it was asked through the proxy at {without_credentials(proxy)}; NO_PROXY exempts it"
        self._address, self._tls, self._hint, self._observe = address, tls, hint, observe
        self._known = tls  # does what listens there speak as we do?
        headers = {
            "content-type": CONTENT_TYPE,
            "accept": CONTENT_TYPE,
            "accept-encoding": "identity",  # a proxy that compresses holds back what a stream has sent
            "x-grpc-web": "1",
            "user-agent": f"akka-optimize/{__version__}",
        }
        if token:
            headers["authorization"] = f"Bearer {token}"
        if region:
            headers["x-akka-region"] = region
        self._client = httpx.Client(
            base_url=f"{'https' if tls else 'http'}://{host}/{service}/",
            headers=headers,
            transport=BoundedTransport(_trusting(ca) if tls else None, httpx.Proxy(proxy) if proxy else None),
            trust_env=False,
        )

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """One request, one reply, within `timeout` seconds in all."""
        with trying(method, self._observe) as request_id:
            answers = list(self._exchange(method, request, reply, timeout, request_id))
            if len(answers) != 1:
                raise told.garbled(self._address, f"it holds {len(answers)} messages, not one")
            return answers[0]

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """One request, many replies, each as soon as it is there, within `timeout` seconds in all."""
        with trying(method, self._observe) as request_id:
            yield from self._exchange(method, request, reply, timeout, request_id)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def _exchange(
        self, method: str, request: Message, reply: type[M], timeout: float | None, request_id: str
    ) -> Iterator[M]:
        import httpx
        from google.protobuf.message import DecodeError

        from akka_optimize.client.transport.bounded import Deadline

        content, headers = frame(request.SerializeToString()), {"x-request-id": request_id}
        if timeout is not None:
            headers["grpc-timeout"] = timeout_header(timeout)
        bound = httpx.Timeout(None if timeout is None else Deadline(timeout))
        with self._translated(answered=False):
            sent = self._client.build_request("POST", method, content=content, headers=headers, timeout=bound)
            response = self._client.send(sent, stream=True)
        self._known |= response.status_code != 400  # what web servers say when they are spoken to without TLS
        with self._translated(answered=True), closing(response):
            for message in self._messages(response, Asked(method, len(content), self._address, self._tls, self._hint)):
                try:
                    answer: M = reply.FromString(message)
                except DecodeError:
                    raise told.garbled(self._address, f"it is no {reply.__name__}") from None
                yield answer

    def _messages(self, response: httpx.Response, asked: Asked) -> Iterator[bytes]:
        """The messages of an answer; raises the error that it tells, as soon as it does."""
        if "grpc-status" in response.headers:  # an answer without a body
            error = status_error(response.headers, self._address)
        elif response.is_redirect:
            raise told.moved(self._address, response.headers.get("location", ""))
        elif response.status_code != 200:
            raise self._with_doubt(by_http_status(asked, response.status_code))
        elif (kind := response.headers.get("content-type", "").partition(";")[0].strip().lower()) not in OURS:
            raise told.no_trainer(self._address, f"it answers with {kind or 'nothing that it names'}")
        else:
            chunks = response.iter_bytes()
            error = yield from messages(chunks, response.headers.get("grpc-encoding", ""), self._address)
            with suppress(*_failures()):  # all is said; once the body's end is read, the next call has the connection
                next(chunks, None)
        if isinstance(error, errors.TimedOut):
            raise told.late(self._address)
        if error is not None:
            raise error

    @contextmanager
    def _translated(self, *, answered: bool) -> Iterator[None]:
        """Turn what httpcore and httpx raise into AkkaErrors; `answered` once the head of the answer is there."""
        import httpcore

        try:
            yield
        except _failures() as error:
            match error:
                case httpcore.TimeoutException():
                    told_as: errors.AkkaError = told.late(self._address)
                case httpcore.ConnectError():
                    told_as = self._no_connection(error)
                case httpcore.ProxyError():
                    told_as = errors.Unreachable(
                        f"the proxy on the way to {self._address} refused: HTTP {str(error)[:3]}", hint=self._hint
                    )
                case httpcore.RemoteProtocolError() if not answered and str(error) != DISCONNECTED:
                    told_as = told.only_http2(self._address)
                case httpcore.NetworkError() | httpcore.RemoteProtocolError():
                    told_as = self._with_doubt(told.cut(self._address))
                case _:
                    told_as = told.garbled(self._address, type(error).__name__)
            raise told_as from error

    def _with_doubt(self, error: errors.AkkaError) -> errors.AkkaError:
        """The error, with a hint at TLS where nothing but it has come over plain HTTP yet."""
        if not self._known:
            error.hint = f"{error.hint}; {IF_TLS}" if error.hint else IF_TLS
        return error

    def _no_connection(self, error: Exception) -> errors.Unreachable:
        import ssl

        cause = error.args[0] if error.args else None  # httpcore cuts the chain, and keeps what was raised first there
        match cause:
            case ssl.SSLCertVerificationError():
                return told.by_certificate(self._address, cause.verify_message)
            case ssl.SSLError(reason="WRONG_VERSION_NUMBER" | "HTTP_REQUEST" | "RECORD_LAYER_FAILURE"):
                return told.no_tls(self._address)
            case ssl.SSLError():
                return told.untrusted(self._address, "TLS failed")
            case socket.gaierror():
                return told.unknown_name(self._address, self._hint)
        return told.nobody(self._address, self._hint)


def _failures() -> tuple[type[Exception], ...]:
    import httpcore
    import httpx

    network = httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError
    return *network, httpcore.UnsupportedProtocol, httpx.DecodingError, httpx.InvalidURL


def _trusting(ca: Path | None) -> ssl.SSLContext:
    """Trust the system's authorities, or only those in `ca`. Raises WrongUsage (the file)."""
    import ssl

    from akka_optimize.client.transport.certificates import trusted

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if (authorities := trusted(ca)) is not None:
        context.load_verify_locations(cadata=authorities.decode(errors="replace"))
    return context
