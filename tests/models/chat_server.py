"""What stands in for a chat model? A real server on this machine that replies with what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serving() -> Iterator[FakeChat]:
    """A server that runs until the block ends."""
    with FakeChat() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


class FakeChat(ThreadingHTTPServer):
    """Replies to each request with what a test says, and keeps the requests. `replies` is a function of the request to
    a text and, for each of its tokens, the log-probabilities of the likeliest ones, which are told if they are asked
    for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.requests: list[dict[str, Any]] = []
        self.reply: str | None = None
        self.replies: Callable[[dict[str, Any]], tuple[str, list[list[float]]]] | None = None
        self.status = 200
        self.body: bytes | None = None  # in the place of a chat completion

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answer(BaseHTTPRequestHandler):
    server: FakeChat

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        said, places = self.server.replies(request) if self.server.replies else (self.server.reply, [])
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": _told(places)}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        content = json.dumps(body if self.server.status == 200 else {"error": {"message": "overloaded"}}).encode()
        content = content if self.server.body is None else self.server.body
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def _told(places: list[list[float]]) -> dict[str, Any] | None:
    """Log-probabilities as the protocol tells them."""
    if not places:
        return None
    content = []
    for place in places:
        likeliest = [{"token": f"t{number}", "logprob": one, "bytes": None} for number, one in enumerate(place)]
        content.append({**likeliest[0], "top_logprobs": likeliest})
    return {"content": content}
