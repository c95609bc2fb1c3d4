"""What the client says when the network, and not the trainer, is the trouble: one sentence each, the same over gRPC and
gRPC-Web."""

from __future__ import annotations

from akka_optimize import errors

MOST_REPLY_BYTES = 64 << 20  # of one message; a longer reply comes as a stream
MORE_TIME = "allow more with --timeout"


def is_loopback(host: str) -> bool:
    """Is HOST:PORT this machine's own? Only what needs no look-up counts: localhost, 127.0.0.0/8 and ::1."""
    import ipaddress

    name = host.rpartition(":")[0].strip("[]").lower()
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def unsent(error: errors.Unreachable) -> errors.Unreachable:
    """The error, when it came before anybody could carry the request out."""
    error.sent = False
    return error


def nobody(address: str, hint: str | None) -> errors.Unreachable:
    """The connection was refused, or the name does not resolve."""
    return unsent(errors.Unreachable(f"no trainer answers at {address}", hint=hint))


def cut(address: str) -> errors.Unreachable:
    """The connection ended before the answer did."""
    return errors.Unreachable(
        f"the connection to {address} was cut before the answer was complete", hint="try the command again"
    )


def late(address: str) -> errors.TimedOut:
    """The time ran out."""
    return errors.TimedOut(f"the trainer at {address} did not answer in time", hint=MORE_TIME)


def untrusted(address: str, reason: str) -> errors.Unreachable:
    """TLS could not be agreed upon: the certificate, its name, or no TLS at all."""
    return unsent(
        errors.Unreachable(
            f"no safe connection to {address}: {reason}",
            hint="the address has to be one that the certificate names, and an authority of one's own goes into the "
            "context's ca",
        )
    )


def by_certificate(address: str, words: str) -> errors.Unreachable:
    """TLS could not be agreed upon, for what OpenSSL says of the certificate."""
    words = words.lower()
    for sign, reason in (
        ("mismatch", "its certificate is for another name"),
        ("expired", "its certificate has expired"),
        ("not yet valid", "its certificate is not valid yet, by this machine's clock"),
        ("self-signed", "its certificate is self-signed"),
        ("self signed", "its certificate is self-signed"),
    ):
        if sign in words:
            return untrusted(address, reason)
    return untrusted(address, "its certificate comes from no authority that is trusted here")


def no_tls(address: str) -> errors.Unreachable:
    """What answers is spoken to in the wrong way."""
    return unsent(
        errors.Unreachable(
            f"no safe connection to {address}: what answers there does not speak TLS",
            hint="if it is safe, write http://",
        )
    )


def unknown_name(address: str, hint: str | None) -> errors.Unreachable:
    """The host's name does not resolve."""
    return unsent(errors.Unreachable(f"no trainer answers at {address}: no such name is known", hint=hint))


def require_safe_token(token: str, host: str, *, tls: bool, address: str) -> None:
    """Raise Unauthenticated where others could read the token on the way, or where no header can carry it."""
    if not tls and not is_loopback(host):
        raise errors.Unauthenticated(
            f"a token is not sent to {address}, because others could read it on the way",
            hint="use https://, or unset the token",
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise errors.Unauthenticated("the token holds characters that a token cannot have", hint="look at its file")


def too_large(address: str) -> errors.Exhausted:
    """One message of the reply is over the limit."""
    return errors.Exhausted(
        f"the reply from {address} is larger than {MOST_REPLY_BYTES >> 20} MiB, the most one may be"
    )


def gateway(address: str, status: int) -> errors.Unreachable:
    """A proxy answered, and has nobody to ask."""
    return errors.Unreachable(
        f"the gateway at {address} answers, but it reaches no trainer behind it (HTTP {status})",
        hint="see whether the trainer behind it runs",
    )


def busy(address: str, status: int) -> errors.Unreachable:
    """Somebody answered that this is not the moment."""
    return unsent(
        errors.Unreachable(f"{address} takes no calls at the moment (HTTP {status})", hint="try again in a moment")
    )


def request_too_large(address: str, size: int) -> errors.Exhausted:
    """Somebody on the way takes no request as long as this one."""
    return errors.Exhausted(f"{address} takes no request of {size} bytes (HTTP 413)")


def moved(address: str, to: str) -> errors.Unsupported:
    """Redirects are not followed: the token is for the address that the user named."""
    return errors.Unsupported(
        f"{address} redirects to {to or 'another address'}, and redirects are not followed",
        hint="name the trainer's own address",
    )


def not_allowed(address: str, status: int) -> errors.Unauthenticated:
    """Somebody before the trainer, or the trainer itself, does not let the call through."""
    return errors.Unauthenticated(
        f"{address} does not let this call through (HTTP {status})", hint="see that AKKA_TRAINER_TOKEN is right"
    )


def older(address: str, method: str) -> errors.Unsupported:
    """The path of the method is not there."""
    return errors.Unsupported(
        f"{address} has no {method}: this trainer is older than the command, or it is no trainer",
        hint="compare the version that `akka-optimize training info` prints with `akka-optimize --version`",
    )


def no_trainer(address: str, what: str) -> errors.Unsupported:
    """Somebody answered who is no trainer; `what` says how."""
    return errors.Unsupported(f"what answers at {address} is no trainer: {what}")


def only_http1(address: str) -> errors.Unreachable:
    """gRPC does not get through, because what answers speaks HTTP/1.1 only."""
    return unsent(errors.Unreachable(f"what answers at {address} does not speak HTTP/2", hint="try --use-grpc-web"))


def only_http2(address: str) -> errors.Unreachable:
    """gRPC-Web does not get through, because what answers does not speak HTTP/1.1."""
    return unsent(
        errors.Unreachable(f"what answers at {address} does not speak HTTP/1.1", hint="try without --use-grpc-web")
    )


def garbled(address: str, what: str) -> errors.Internal:
    """An answer that breaks the protocol."""
    return errors.Internal(f"the answer from {address} makes no sense: {what}")
