"""Which public sets can be prepared? By the name of the folder that comes of each."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.prepare import (
    banking77,
    clinc150,
    graphrag_medical,
    hotpotqa,
    locomo,
    longmemeval,
    madial,
    musique,
    natural_questions,
    perltqa,
    timeqa,
    two_wiki,
)
from benchmarks.prepare.public_set import PublicSet


def _made(corpus: str, queries: str) -> Mapping[str, str]:
    return {"corpus.jsonl.gz": corpus, "queries.jsonl.gz": queries}


SETS: Mapping[str, PublicSet] = {
    "banking77": PublicSet(
        {
            "train.csv": "b06e26ac675513959a63135f11b94ea7786ed02da65db93a5650d8838cbc664b",
            "test.csv": "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d",
        },
        banking77.rows,
        can_be_drawn=True,
        made=_made(
            "9dbd1715632ac70dbc094e82431e71c5043e4ea34ff1b4e42c10d801d0143b89",
            "cbd439e158da66381d1e3982255c2034aaeb364f302e64ff6b28ac2edbf16943",
        ),
    ),
    "clinc150": PublicSet(
        {clinc150.FILE: "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0"},
        clinc150.rows,
        can_be_drawn=True,
        made=_made(
            "415fd497ec124f2f69bdf1e8e0905d358c37c81b1df1274890cb943ba3fe8137",
            "2449bf7638ddc80dd53f6857777ca703371671bbd7f76454d952973191042b64",
        ),
    ),
    "graphrag_medical": PublicSet(
        {graphrag_medical.CORPUS: None, graphrag_medical.QUESTIONS: None}, graphrag_medical.rows, can_be_drawn=True
    ),
    "hotpotqa": PublicSet({"hotpot*.json": None}, hotpotqa.rows, can_be_drawn=True),
    "hotpotqa_200": PublicSet(
        {"hotpot*.json": None},
        hotpotqa.rows_of_our_sample,
        made=_made(
            "4c0fa5f9658cd43424ad0b515b0934bedde3a336b2cd703f7d6b59a429b5dc87",
            "fe82940006a479c706aa75bd1e23e9b8554c1d643b310532512070c6a963b3fe",
        ),
    ),
    "locomo": PublicSet(
        {locomo.FILE: "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"},
        locomo.rows,
        can_be_drawn=True,
        made=_made(
            "dc2f6e40a2b3a14692fba5f474b56282796edde9b19ee2126a30c9be899e448d",
            "7eefd2bd4ff8eebeccd648dae7940d4152e425fcd288f2509713048d7fc789cd",
        ),
    ),
    "longmemeval": PublicSet({"longmemeval_*.json": None}, longmemeval.rows, can_be_drawn=True),
    "madial_en": PublicSet(
        {
            madial.MEMORIES: "d384b2d35e01ed364165001911af7f8193c808d168b106dea7b23435c7717aa5",
            madial.DIALOGUES: "ba987172b4a720dd108c9a3b04855b8489ecde96fdf5d484d6522602ec6f4a31",
        },
        madial.rows,
        can_be_drawn=True,
        made=_made(
            "d052004e2b6baf46d13c4b6b58c62c3bbaf3b47b1636c7f861d593daabb27494",
            "2a977fd07ae8604dd7055f94f122e77e6d14ba33bcb2a4792b9f5e74aa638b8e",
        ),
    ),
    "musique": PublicSet({"musique_ans*.jsonl": None}, musique.rows, can_be_drawn=True),
    "musique_100": PublicSet(
        {"musique*train.json*": None},
        musique.rows_of_our_sample,
        made=_made(
            "37811cddc59a2de12673819df26088b8fe10acb04ac98bee72137b83d92f86a6",
            "28d909ef5b4708a60ff0ec6436b039a2001374ba6b67e54e162ee437a092d06a",
        ),
    ),
    "nq": PublicSet({"*nq-*.jsonl*": None}, natural_questions.rows, can_be_drawn=True),
    "perltqa": PublicSet({perltqa.MEMORIES: None, perltqa.QUESTIONS: None}, perltqa.rows, can_be_drawn=True),
    "timeqa_human": PublicSet(
        {
            "human_annotated_test.json": "70d61fcac05fa41689ac3c0d2b52563f9c2d6892e80d881be4b78910614d5fdc",
            "human_annotated_train.json": "99eec0514569ecbdea087ae3751a1e7d5ae0e45fcf82f9b4e9226f30967939b5",
        },
        timeqa.rows,
        can_be_drawn=True,
        made=_made(
            "1429cb6eb2dcd8096747bb67d94fc4031cccc98a0fefe42ba248c527d26314f0",
            "ab7ddad92b8e0aa67098527ed75d3ff3c799af9137140ca80e59c1d813fd9782",
        ),
    ),
    "twowiki": PublicSet({"dev.json": None}, two_wiki.rows, can_be_drawn=True),
    "twowiki_101": PublicSet(
        {
            two_wiki.CORPUS: "9d6e352952aafb18dab22bf8195039461321a44a949df902ae83bce134ad238a",
            two_wiki.ANSWERED: "09ead0aad31db179143dbfaf58efb4201a259eb3768077a927713c993f0b058d",
            two_wiki.SHORTER: "fad0a6850f1c4c22fcfa7d66954d5cec654c16ecdc2b87c0103984f388df14e0",
            two_wiki.SEVERAL_STEPS: "fbab87ae9cc278e4832a26d28fa3891e7d8355316c385be5fc139840d9cf924b",
        },
        two_wiki.rows_of_our_sample,
        made=_made(
            "82ac1ecb35018cb827c8bd28c2097bf3738195b3725d3770ccaf6f4804ca7edc",
            "fc72fe1e52cd8b9bdbf3145eb73575217da5a241f9c505e65a080e31d79062ef",
        ),
    ),
}
