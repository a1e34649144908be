"""Which questions in other languages have nothing to do with a user's memory? Of both kinds that are in English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from adaptive_memory_core.channels.words.language_of_text import language_of, likeliest
from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import listed, shown

ENGLISH = ""  # and what is in no language that can be told
OTHER_SCRIPT = "another script"
_SCRIPTS = {  # of languages that are told by their letters
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_LATIN_END = "\u024f"
_GERMAN = """
Wie lange muss ein Ei kochen, damit der Dotter weich bleibt? Welcher Planet hat die meisten Monde? Warum schnurren
Katzen? Was ist die Hauptstadt der Mongolei? Wer hat die Sixtinische Kapelle ausgemalt? Wie falte ich einen Kranich aus
Papier? Wann wurde der Buchdruck erfunden? Wie entstehen Polarlichter? Wie tauchen U-Boote ab und wieder auf? Warum ist
das Meer salzig? Wie viele Knochen hat ein Hai? Welches Metall ist bei Zimmertemperatur flüssig? Wer war die erste Frau
im Weltraum? Wie tief ist der Marianengraben? Wie wird aus Sand Glas? Warum färbt sich das Laub im Herbst rot?
Was hat der Senator über das neue Landwirtschaftsgesetz gesagt? Wo hat die Expedition das Fossil gefunden? Wer füttert
den Leguan von Yuki? Hat Ingmar schon angerufen? Welche Mannschaft hat die Regatta am Samstag gewonnen? Ist Osvaldo
gegen Muscheln allergisch? Warum hat die Fabrik ihre zweite Fertigungsstraße geschlossen? Was hat Igor in seinem
Gewächshaus gebaut? Wo hat Fatima den Schlüssel zum Bootshaus gelassen? Wie viele Ziegen hält Mateo? Wer hat Leokadia
das Glasblasen beigebracht? Wann hat Kwame mit dem Töpferkurs angefangen? Was haben die Zwillinge ihr Segelboot
genannt? Welchen Beruf hat Korneliuses Tante gelernt? Wer hat sich meinen Sextanten geliehen? Ist der Brennofen warm?
"""
_FRENCH = """
Combien de temps faut-il cuire un œuf pour que le jaune reste coulant ? Quelle planète a le plus de lunes ? Pourquoi les
chats ronronnent-ils ? Quelle est la capitale de la Mongolie ? Qui a peint la chapelle Sixtine ? Comment plier une grue
en papier ? Quand l'imprimerie a-t-elle été inventée ? Qu'est-ce qui provoque les aurores boréales ? Comment les
sous-marins plongent-ils ? Pourquoi la mer est-elle salée ? Combien d'os a un requin ? Quel métal est liquide à
température ambiante ? Qui fut la première femme dans l'espace ? Quelle est la profondeur de la fosse des Mariannes ?
Comment fabrique-t-on le verre ? Pourquoi les feuilles rougissent-elles en automne ? Qu'a dit le sénateur sur la loi
agricole ? Où l'expédition a-t-elle trouvé le fossile ? Qui nourrit l'iguane de Yuki ? Est-ce qu'Ingmar a appelé ?
Quelle équipe a gagné la régate de samedi ? Osvaldo est-il allergique aux fruits de mer ? Pourquoi l'usine a-t-elle
fermé sa deuxième chaîne ? Qu'est-ce qu'Igor a construit dans sa serre ? Où Fatima a-t-elle laissé la clé du hangar à
bateaux ? Combien de chèvres Mateo élève-t-il ? Qui a appris à Léocadie à souffler le verre ? Quand Kwame a-t-il
commencé ses cours de poterie ? Comment les jumeaux ont-ils appelé leur voilier ? Qui a emprunté mon sextant ? Le four
est-il déjà chaud ? Que chantait la grand-mère de Zdenka ?
"""
_SPANISH = """
¿Cuánto tiempo hay que hervir un huevo para que la yema quede blanda? ¿Qué planeta tiene más lunas? ¿Por qué ronronean
los gatos? ¿Cuál es la capital de Mongolia? ¿Quién pintó la Capilla Sixtina? ¿Cómo se pliega una grulla de papel?
¿Cuándo se inventó la imprenta? ¿Qué causa las auroras boreales? ¿Cómo se sumergen los submarinos? ¿Por qué es salado el
mar? ¿Cuántos huesos tiene un tiburón? ¿Qué metal es líquido a temperatura ambiente? ¿Quién fue la primera mujer en el
espacio? ¿Qué profundidad tiene la fosa de las Marianas? ¿Cómo se hace el vidrio con arena? ¿Por qué enrojecen las hojas
en otoño? ¿Qué dijo el senador sobre la ley agraria? ¿Dónde encontró la expedición el fósil? ¿Quién da de comer a la
iguana de Yuki? ¿Ha llamado Ingmar? ¿Qué equipo ganó la regata del sábado? ¿Es Osvaldo alérgico al marisco? ¿Por qué
cerró la fábrica su segunda cadena de montaje? ¿Qué construyó Igor en su invernadero? ¿Dónde dejó Fátima la llave del
cobertizo? ¿Cuántas cabras cría Mateo? ¿Quién enseñó a Leocadia a soplar vidrio? ¿Cuándo empezó Kwame las clases de
cerámica? ¿Cómo llamaron los gemelos a su velero? ¿Quién me ha pedido prestado el sextante? ¿Está ya caliente el horno?
¿Qué vende la abuela de Zdenka en el mercado?
"""
_ITALIAN = """
Quanto deve bollire un uovo perché il tuorlo resti morbido? Quale pianeta ha più lune? Perché i gatti fanno le fusa?
Qual è la capitale della Mongolia? Chi ha dipinto la Cappella Sistina? Come si piega una gru di carta? Quando fu
inventata la stampa? Che cosa provoca le aurore boreali? Come si immergono i sottomarini? Perché il mare è salato?
Quante ossa ha uno squalo? Quale metallo è liquido a temperatura ambiente? Chi fu la prima donna nello spazio? Quanto è
profonda la fossa delle Marianne? Come si fa il vetro con la sabbia? Perché le foglie diventano rosse in autunno? Che
cosa ha detto il senatore della legge agraria? Dove ha trovato il fossile la spedizione? Chi dà da mangiare all'iguana
di Yuki? Ingmar ha già chiamato? Quale squadra ha vinto la regata di sabato? Osvaldo è allergico ai frutti di mare?
Perché la fabbrica ha chiuso la seconda linea? Che cosa ha costruito Igor nella sua serra? Dove ha lasciato Fatima la
chiave della rimessa? Quante capre alleva Mateo? Chi ha insegnato a Leocadia a soffiare il vetro? Quando ha cominciato
Kwame il corso di ceramica? Come hanno chiamato i gemelli la loro barca? Chi ha preso in prestito il mio sestante?
"""
_PORTUGUESE = """
Quanto tempo deve ferver um ovo para a gema ficar mole? Que planeta tem mais luas? Por que é que os gatos ronronam?
Qual é a capital da Mongólia? Quem pintou a Capela Sistina? Como se dobra um grou de papel? Quando foi inventada a
imprensa? O que provoca as auroras boreais? Como mergulham os submarinos? Por que é que o mar é salgado? Quantos ossos
tem um tubarão? Que metal é líquido à temperatura ambiente? Quem foi a primeira mulher no espaço? Qual é a
profundidade da fossa das Marianas? Como se faz vidro com areia? Por que é que as folhas ficam vermelhas no outono? O
que disse o senador sobre a lei agrária? Onde é que a expedição encontrou o fóssil? Quem dá de comer à iguana de Yuki?
O Ingmar já telefonou? Que equipa ganhou a regata de sábado? O Osvaldo é alérgico a marisco? Por que fechou a fábrica
a segunda linha? O que construiu Igor na estufa? Onde deixou Fátima a chave do barracão? Quantas cabras cria o Mateo?
Quem ensinou Leocádia a soprar vidro? Quando começou Kwame as aulas de cerâmica? Que nome deram os gémeos ao veleiro?
Quem me pediu emprestado o sextante?
"""
_DUTCH = """
Hoe lang moet een ei koken om de dooier zacht te houden? Welke planeet heeft de meeste manen? Waarom spinnen katten?
Wat is de hoofdstad van Mongolië? Wie heeft de Sixtijnse Kapel beschilderd? Hoe vouw ik een kraanvogel van papier?
Wanneer is de boekdrukkunst uitgevonden? Waardoor ontstaat het noorderlicht? Hoe kan een onderzeeër duiken? Waarom is
de zee zout? Hoeveel botten heeft een haai? Welk metaal is vloeibaar bij kamertemperatuur? Wie was de eerste vrouw in
de ruimte? Hoe diep is de Marianentrog? Hoe wordt er glas van zand gemaakt? Waarom worden de bladeren rood in de
herfst? Wat zei de senator over de landbouwwet? Waar heeft de expeditie het fossiel gevonden? Wie geeft de leguaan van
Yuki te eten? Heeft Ingmar al gebeld? Welke ploeg heeft zaterdag de regatta gewonnen? Is Osvaldo allergisch voor
schaaldieren? Waarom heeft de fabriek haar tweede lijn gesloten? Wat heeft Igor in zijn kas gebouwd? Waar heeft Fatima
de sleutel van het boothuis gelaten? Hoeveel geiten houdt Mateo? Wie heeft Leocadia leren glasblazen? Wanneer is Kwame
met de cursus pottenbakken begonnen? Hoe hebben de tweelingen hun zeilboot genoemd? Wie heeft mijn sextant geleend?
"""


def _questions(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"(?<=\?) ", " ".join(text.split()).replace(" ?", "?")))


UNRELATED_IN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        ENGLISH: UNRELATED,
        "de": _questions(_GERMAN),
        "fr": _questions(_FRENCH),
        "es": _questions(_SPANISH),
        "it": _questions(_ITALIAN),
        "pt": _questions(_PORTUGUESE),
        "nl": _questions(_DUTCH),
    }
)

_OURS = tuple(code for code in UNRELATED_IN if code)


def questions_in(language: str) -> tuple[str, ...]:
    """Our own questions in a language that there are some in.

    >>> questions_in("sv")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: There are no unrelated questions in 'sv'. Give one of 'en', 'de', ...
    """
    if language == "en":
        return UNRELATED
    if language in _OURS:
        return UNRELATED_IN[language]
    raise InvalidInputError(
        f"There are no unrelated questions in {shown(language)}. Give one of {listed(('en', *_OURS))}, or "
        "questions of your own."
    )


def language_asked_in(question: str) -> str:
    """The language of a question, as far as it can be told; "" for English, and where it cannot.

    >>> [language_asked_in(one) for one in ("Where is it?", "Wo hat sie denn gewohnt?", "どこですか")]
    ['', 'de', 'ja']
    """
    for code, letters in _SCRIPTS.items():
        if letters.search(question):
            return code
    if sure := language_of(question):
        return sure
    if sum(one > _LATIN_END for one in question if one.isalpha()) > len(question) / 2:
        return OTHER_SCRIPT
    guessed = likeliest(question, _OURS)
    return guessed if guessed in _OURS else ENGLISH


def common_language(questions: Sequence[str]) -> str:
    """The language that most of them are in.

    >>> common_language(["Wer hat das gesagt?", "Wo wohnt sie denn jetzt?", "Why?"])
    'de'
    """
    return Counter(map(language_asked_in, questions)).most_common(1)[0][0]
