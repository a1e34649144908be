"""What stands in for a model? A real server on this machine that replies with what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class ModelServer(ThreadingHTTPServer):
    """Keeps each request, and with which key it came to which path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes]:
        """A status and a body."""
        raise NotImplementedError


class _Answer(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.keys.append(self.headers["Authorization"])
        self.server.paths.append(self.path)
        status, content = self.server.answer(request)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class FakeChat(ModelServer):
    """Replies to each request with what a test says. `replies` is a function of the request to a text and, for each of
    its tokens, the log-probabilities of the likeliest ones, which are told if they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.reply: str | None = None
        self.replies: Callable[[dict[str, Any]], tuple[str, list[list[float]]]] | None = None
        self.status = 200
        self.body: bytes | None = None  # in the place of a chat completion

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes]:
        said, places = self.replies(request) if self.replies else (self.reply, [])
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": _told(places)}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        content = json.dumps(body if self.status == 200 else {"error": {"message": "overloaded"}}).encode()
        return self.status, content if self.body is None else self.body


S = TypeVar("S", bound=ModelServer)


@contextmanager
def running(server: S) -> Iterator[S]:
    """The server, which runs until the block ends."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def serving() -> AbstractContextManager[FakeChat]:
    return running(FakeChat())


def _told(places: list[list[float]]) -> dict[str, Any] | None:
    """Log-probabilities as the protocol tells them."""
    if not places:
        return None
    content = []
    for place in places:
        likeliest = [{"token": f"t{number}", "logprob": one, "bytes": None} for number, one in enumerate(place)]
        content.append({**likeliest[0], "top_logprobs": likeliest})
    return {"content": content}
