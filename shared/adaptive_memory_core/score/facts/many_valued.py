"""Which verbs may hold of several things at once, so that no statement replaces another: likes, speaks, owns?

The commonest such verbs of the languages whose texts are told apart; what they do not know is decided as before.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_ENGLISH = (
    "like likes love loves hate hates enjoy enjoys know knows speak speaks read reads visit visits watch watches want"
    " wants see sees meet meets recommend recommends collect collects suggest suggests bring brings learn learns"
    " support supports borders need needs take takes contains holds includes fixes"
)
_OTHERS = """
    mag mögen liebt lieben hasst spricht sprechen kennt liest besucht schaut isst trinkt will besitzt sammelt lernt
    empfiehlt gekauft getroffen gesehen gelesen
    aime aiment adore adorent déteste détestent parle parlent connaît connaissent sait lit lisent regarde visite visité
    visitée possède possèdent collectionne mange boit veut recommande apprend acheté rencontré vu lu allé allée goûté
    gusta gustan encanta encantan ama aman adora adoran odia habla hablan conoce sabe lee leen visita visitó visitado
    mira come bebe quiere posee colecciona recomienda aprende compró conoció vio leyó
    piace piacciono piaciuto piaciuta piaciuti amano parla parlano legge visitato guarda mangia beve vuole possiede
    colleziona consiglia impara comprato incontrato visto letto andato andata
    gosta gostam odeia fala falam conhece lê visitou assiste quer possui coleciona recomenda comprou conheceu viu leu
    houdt houden haat spreekt spreken kent leest bezoekt bezocht eet drinkt bezit verzamelt leert gekocht ontmoet
    lubi lubią kocha nienawidzi mówi mówią zna czyta odwiedził odwiedziła ogląda pije chce posiada zbiera poleca kupił
    kupiła poznał poznała widział widziała przeczytał przeczytała
    любит любят обожает ненавидит говорит говорят знает читает посетил посетила смотрит пьёт пьет хочет владеет собирает
    купил купила встретил встретила видел видела нравится нравятся
    gillar älskar hatar besöker spelar talar pratar läser besökte äter dricker äger samlar elsker taler snakker kender
    kjenner læser
    leser ejer eier spiser drikker besøgte besøkte seviyor sever konuşuyor konuşur biliyor okuyor içiyor yiyor
    rád ráda mluví čte navštívil navštívila rakastaa puhuu lukee omistaa szereti beszél ismer olvas iubește vorbește
    cunoaște citește αγαπά αγαπάει μιλά μιλάει γνωρίζει διαβάζει
    """
_MANY_VALUED = frozenset(_ENGLISH.split())
_IN_OTHER_LANGUAGES = frozenset(_OTHERS.split())
_MOST = frozenset("liebsten liebste plus más più mais najbardziej больше liefst mest".split())  # "likes best": of one
_UNSPACED = re.compile(
    "(?<!最)(?:喜欢|喜歡)|讨厌|討厭|会说|會說|去过|去過|看过|看過|读过|讀過|吃|喝|(?<!一番)好き(?!な)|嫌い|話せ|話し|読ん|行ったこと"
    "|좋아(?!하는 것은)|싫어|말할|말한|읽|방문|먹|마시"
)


def may_hold_of_several(before: Collection[str], common: Collection[str], text: str) -> bool:
    """Whether such a verb stands in what two statements have in common: `before` are the words before they differ, and
    `text` is the whole of one, for languages that separate no words.

    >>> may_hold_of_several(["ana", "likes"], ["ana", "likes"], "ana likes tea")
    True
    >>> [may_hold_of_several([], one.split(), one) for one in ("luc parle", "佐藤さんはお茶が好きです", "luc habite à")]
    [True, True, False]
    >>> [may_hold_of_several([], one.split(), one) for one in ("ana mag am liebsten", "她最喜欢的饮料是茶")]
    [False, False]
    """
    if not _MANY_VALUED.isdisjoint(before) or _UNSPACED.search(text):
        return True
    return not _IN_OTHER_LANGUAGES.isdisjoint(common) and _MOST.isdisjoint(common)
