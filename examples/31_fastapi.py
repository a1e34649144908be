"""How does a memory live in a web server? Opened once for all requests; a retriever may be made for each of them."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import chromadb
import httpx
from chromadb import Collection
from fastapi import Depends, FastAPI, Header, Request

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, UserMemory
from langchain_adaptive_memory import AdaptiveMemoryRetriever

USERS, REQUESTS = 4, 200


def service(directory: Path) -> FastAPI:
    """An application with a memory of what its users say, and a collection of documents that all may ask."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        embedder = LocalEmbedder()
        client = chromadb.PersistentClient(str(directory / "documents"))
        documents = client.get_or_create_collection("documents", embedding_function=None)
        with AdaptiveMemoryRetriever.from_collection(documents, embedder) as kept:  # the memory stays for all requests
            async with AdaptiveMemory.open(directory / "memory", embedder=embedder) as memory:
                app.state.memory, app.state.embedder, app.state.documents = memory, embedder, documents
                await kept.aadd_documents(_documents())
                yield

    app = FastAPI(lifespan=life)
    app.post("/notes")(note)
    app.get("/notes")(recall)
    app.get("/documents")(search)
    return app


def of_user(request: Request, user: Annotated[str, Header()]) -> UserMemory:
    """Whose memory it is. Take the name from your session, never from the text of a request."""
    memory: AdaptiveMemory = request.app.state.memory
    return memory.for_user(user)


async def note(text: str, memory: Annotated[UserMemory, Depends(of_user)]) -> str:
    return await memory.aremember(text)


async def recall(question: str, memory: Annotated[UserMemory, Depends(of_user)]) -> list[str]:
    return [hit.text for hit in await memory.arecall(question, k=3)]


async def search(request: Request, question: str) -> list[str]:
    """A retriever for this request alone: it finds the memory that is open over the collection."""
    documents: Collection = request.app.state.documents
    retriever = AdaptiveMemoryRetriever.from_collection(documents, request.app.state.embedder, k=1)
    return [document.page_content for document in await retriever.ainvoke(question)]


def _documents() -> list[Any]:
    from langchain_core.documents import Document

    return [Document(text, id=text[:8]) for text in ("The office opens at nine.", "Refunds take five days.")]


async def many_requests(directory: Path) -> None:
    app = service(directory)
    async with app.router.lifespan_context(app):
        door = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=door, base_url="http://memory") as client:
            names = [{"user": f"user-{number}"} for number in range(USERS)]
            for name in names:
                await client.post("/notes", params={"text": f"{name['user']} drinks green tea"}, headers=name)
            asked = [
                client.get("/notes", params={"question": "what do I drink?"}, headers=names[number % USERS])
                if number % 2
                else client.get("/documents", params={"question": "when does the office open?"})
                for number in range(REQUESTS)
            ]
            answers = await asyncio.gather(*asked)
        print(f"{sum(answer.status_code == 200 for answer in answers)} of {REQUESTS} requests answered")
        print("a note:", answers[1].json()[0])
        print("a document:", answers[0].json()[0])
        recalls = sum([(await app.state.memory.for_user(name["user"]).astats()).recalls for name in names])
        print(f"{recalls} recalls of notes were counted")


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(many_requests(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as directory:
            asyncio.run(many_requests(Path(directory)))
