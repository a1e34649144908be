"""Is every known format masked, nothing ordinary, and is nothing of a secret left in any file of a memory?"""

from __future__ import annotations

import asyncio
import base64
import random
import string
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, PolicyError, Record
from adaptive_memory_core.masked_secrets import FORMATS, mask, masked_item
from tests.conftest import word_vectors

ALNUM = string.ascii_letters + string.digits


def made_up(length: int, letters: str = ALNUM) -> str:
    """Characters that look like a secret's, the same in every run."""
    return "".join(random.Random(length).choices(letters, k=length))


PEM = "\n".join(["MII" + made_up(61), made_up(64), made_up(40) + "=="])
UPPER = string.ascii_uppercase + "234567"
SECRETS = [  # what it is, and the secret
    ("private key", f"-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----"),
    ("private key", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PEM}\n-----END OPENSSH PRIVATE KEY-----"),
    ("private key", f"-----BEGIN PRIVATE KEY-----\\n{made_up(64)}\\n-----END PRIVATE KEY-----"),
    ("private key", f"-----BEGIN EC PRIVATE KEY-----\n{made_up(64)}\n{made_up(63)}"),
    ("aws key id", "AKIA" + made_up(16, UPPER)),
    ("aws key id", "ASIA" + made_up(16, UPPER)),
    *(("github token", f"gh{kind}_{made_up(36)}") for kind in "pousr"),
    ("github token", f"github_pat_{made_up(22)}_{made_up(59)}"),
    ("gitlab token", "glpat-" + made_up(20)),
    ("anthropic key", f"sk-ant-api03-{made_up(93)}-{made_up(6)}AA"),
    ("openai key", "sk-" + made_up(48)),
    ("openai key", f"sk-proj-{made_up(40)}_{made_up(30)}"),
    ("openai key", "sk-or-v1-" + made_up(64, "0123456789abcdef")),
    ("slack token", f"xoxb-{made_up(12, string.digits)}-{made_up(13, string.digits)}-{made_up(24)}"),
    ("slack token", f"xapp-1-A{made_up(10)}-{made_up(13, string.digits)}-{made_up(40)}"),
    ("slack webhook", f"https://hooks.slack.com/services/T{made_up(8)}/B{made_up(8)}/{made_up(24)}"),
    ("google key", "AIza" + made_up(35)),
    ("google token", "ya29." + made_up(60)),
    ("stripe key", "sk_live_" + made_up(24)),
    ("stripe key", "rk_test_" + made_up(24)),
    ("stripe key", "whsec_" + made_up(32)),
    ("npm token", "npm_" + made_up(36)),
    ("pypi token", "pypi-AgEIcHlwaS5vcmc" + made_up(60)),
    ("hugging face token", "hf_" + made_up(34)),
    ("sendgrid key", f"SG.{made_up(22)}.{made_up(43)}"),
    ("json web token", f"eyJ{made_up(33)}.eyJ{made_up(60)}.{made_up(43)}"),
]
AROUND = [
    "{}",
    "use {} for it",
    "KEY={}\n",
    '"key": "{}",',
    "({}).",
    "`{}`",
    "a:{};b",
    "\u9375\u306f{}\u3067\u3059",
    '\\"{}\\"',
]
AFTER_A_NAME = [  # what it is, what stays, the secret, and what comes after
    ("bearer token", "Authorization: Bearer ", made_up(30), " -v"),
    ("bearer token", '"authorization": "Basic ', made_up(24), '"'),
    ("bearer token", "curl with bearer ", made_up(32), ""),
    ("password", "postgresql://ana:", "tiger-77", "@db.example.com/app"),
    ("password", "PGPASSWORD=", "hunter", " psql"),
    ("password", "db_password='", "correct-horse", "'"),
    ("password", '"client_secret": "', made_up(40), '"}'),
    ("password", '{\\"password\\": \\"', "tiger-77", '\\"}'),
    ("bearer token", '{\\"Authorization\\": \\"Bearer ', made_up(30), '\\"}'),
    ("bearer token", "\u306fAuthorization: Bearer ", made_up(30), ""),
    ("password", "\u306fpostgresql://ana:", "tiger-77", "@db.example.com/app"),
    ("github token", "git clone https://", "ghp_" + made_up(36), "@github.com/ana/app"),
    ("json web token", "https://example.com/enter/", f"eyJ{made_up(33)}.eyJ{made_up(60)}.{made_up(43)}", "?new"),
    ("password", "api_key: ", made_up(20), ""),
    ("password", "aws_secret_access_key = ", made_up(39) + "/7a", "\n"),
    ("password", "export AUTH_TOKEN=", made_up(12), ""),
]
ORDINARY = [
    "the commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b broke the build",
    f"the record {uuid.UUID(int=7 << 99)} is gone",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(600)).decode(),
    "https://example.com:8080/a/b?next=/login&token_type=bearer#top",
    "see https://github.com/ana/repo/pull/17 and git@github.com:ana/repo.git",
    "the password must have 12 characters, and a secret is stored in the vault",
    "Please reset my password: I forgot it.",
    'password = os.environ["PGPASSWORD"]',
    "token = get_token(user)",
    "PASSWORD=$PGPASSWORD psql; API_KEY=${KEY}",
    "api_key=<your key>, secret={{ vault.secret }}",
    "max_tokens=2000, tokens: 1500, token=123456789",
    "the bearer of this letter is my friend",
    "import sk-learn; pip install scikit-learn; class sk-fading-circle",
    "AKIA is how the ids of AWS begin",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "The file begins with -----BEGIN PRIVATE KEY----- and must never be committed.",
    "def eyJ(a): return a.b.c",
    "C:\\Users\\ana\\secret.txt and /home/ana/.ssh/id_rsa",
    "ratio 10:30, user:group 1000:1000, ana@example.com",
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("name", "secret"), SECRETS, ids=lambda one: one[:16])
def test_a_secret_is_masked_wherever_it_is(name: str, secret: str, around: str) -> None:
    assert mask(around.format(secret)) == around.format(f"[masked: {name}]")


@pytest.mark.parametrize(("name", "before", "secret", "after"), AFTER_A_NAME)
def test_the_value_of_a_name_is_masked_and_the_name_stays(name: str, before: str, secret: str, after: str) -> None:
    assert mask(f"{before}{secret}{after}") == f"{before}[masked: {name}]{after}"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert mask(text) == text


def test_every_format_has_an_example() -> None:
    assert {name for name, _ in FORMATS} == {name for name, *_ in (*SECRETS, *AFTER_A_NAME)}


@given(st.lists(st.sampled_from([one for _, one in SECRETS] + ORDINARY + ["password=", '"', " ", "\n"]), max_size=6))
def test_what_is_masked_is_not_masked_again(parts: list[str]) -> None:
    once = mask("".join(parts))
    assert mask(once) == once


@pytest.mark.parametrize("piece", ["-----BEGIN PRIVATE KEY-----", "password = ", "a.b-c_", "eyJaaaaaaaa.", "x://a:"])
def test_a_long_text_is_masked_in_time_that_grows_with_its_length(piece: str) -> None:
    """In a hundredth of a second or so; in minutes, if a pattern began at each place to look through all the rest."""
    began = time.process_time()
    mask(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 2.0


def test_records_and_mappings_keep_all_but_their_texts() -> None:
    token = SECRETS[4][1]
    record = Record(text=f"use {token}", id="a", metadata={"line": token, "page": 3, "tags": [token, "b"]})
    masked = masked_item(record)
    assert (masked.id, masked.text) == ("a", "use [masked: aws key id]")
    assert masked.metadata == {"line": "[masked: aws key id]", "page": 3, "tags": ["[masked: aws key id]", "b"]}
    named = {"db_password": "tiger-77", "api_keys": ["tiger-77"], "tokens": "tiger-77", "said": 'a "tiger"'}
    once = masked_item({"metadata": named, "text": "tiger-77"})
    assert once == {"metadata": {**named, "db_password": "[masked: password]"}, "text": "tiger-77"}
    assert masked_item(once) == once
    assert masked_item({"content": [{"text": token}], "id": token})["content"] == [{"text": "[masked: aws key id]"}]
    assert masked_item({"content": "a", "id": token})["id"] == token
    assert masked_item(5) == 5


def test_nothing_of_a_secret_is_in_any_file(tmp_path: Path) -> None:
    """Neither of what was stored in any way, nor of what was asked: in the ledger, its log and Chroma's files."""
    place = tmp_path / "memory"
    secrets = [one for _, one in SECRETS if "\n" not in one] + ["tiger-tiger-77"]
    with AdaptiveMemory.open(place, embedder=word_vectors, keeping=Keeping(mask_secrets=True)) as memory:
        ana = memory.for_user("ana")
        for number, secret in enumerate(secrets[:-1]):
            ana.remember(f"key {secret} here", metadata={"copied": secret, "list": [secret]})
            ana.observe([{"speaker": "Ana", "text": f"I use {secret}", "session": "s", "seq": number}])
        ana.remember_many([f"again {secrets[0]}", Record(text=f"and {secrets[1]}"), {"text": f"or {secrets[2]}"}])
        ana.observe(iter([{"content": [{"type": "text", "text": "PASSWORD=tiger-tiger-77"}], "role": "user"}]))
        new = ana.remember("plain")
        ana.update(new, text=f"no longer plain: {secrets[3]}", metadata={"more": secrets[4]})
        found = ana.recall(f"what is {secrets[5]}? PASSWORD=tiger-tiger-77")
        asyncio.run(ana.arecall(f"and {secrets[6]}?"))
        ana.rerank(f"which of {secrets[7]}", {new: 0.5})
        ana.feedback(found, helpful=[found.ids[0]])
        assert "[masked: " in ana.get(new).text
        assert ana.recalls()[0].cue == "which of [masked: github token]"
        memory.flush()
        ana.themes()
    for file in place.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert [one for one in secrets if one.encode() in content] == [], file


def test_it_is_off_unless_asked_for_and_says_so_where_it_cannot_be_used(tmp_path: Path) -> None:
    token = SECRETS[4][1]
    with AdaptiveMemory.open(tmp_path, embedder=word_vectors) as memory:
        assert memory.for_user("ana").get(memory.for_user("ana").remember(token)).text == token
    with pytest.raises(PolicyError, match="mask_secrets"):
        Keeping(mask_secrets="yes")  # type: ignore[arg-type]
    with AdaptiveMemory.open(tmp_path, embedder=word_vectors, keeping=Keeping(mask_secrets=True)) as memory:
        for wrong in ("text", {"text": "text"}, 5):
            with pytest.raises(InvalidInputError):
                memory.for_user("ana").observe(wrong)  # type: ignore[arg-type]
