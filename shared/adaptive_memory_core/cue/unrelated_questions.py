"""Questions in several languages that are unrelated to any user's memory, for calibrating a relevance floor.

Half are questions for an encyclopedia. Half are like questions about a user's memories, but about people and things
that no user has: a memory of that kind contains many of their words, but no answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from adaptive_memory_core.channels.language_of_text import language_of, likeliest
from adaptive_memory_core.error_messages import listed, shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.late import late_pattern

_OF_THE_WORLD = """
How long should I boil an egg so that the yolk stays soft? Which planet has the most moons? Why do cats purr?
What is the capital of Mongolia? How do vaccines train the immune system? Who painted the Sistine Chapel?
What is the boiling point of mercury? How many players are on a rugby team? Can penguins fly? How far is the moon?
What does a carburettor do? How do I fold a paper crane? When was the printing press invented? Is tin magnetic?
What causes the northern lights? Which spice goes best with pumpkin soup? How far is it from Lisbon to Madrid?
What is the plot of Hamlet? How do submarines dive and surface? Is it true that bats are blind? What is a mantissa?
What was the longest war in history? How do I sharpen a kitchen knife? Why is the sea salty? Who wrote the Odyssey?
How does a refrigerator keep things cold? What are the rules of cricket? How many bones does a shark have?
What is the difference between a violin and a viola? When do cherry trees bloom in Kyoto? What is a good pirate name?
What is the tallest waterfall in the world? How is glass made from sand? Why do onions make people cry?
How do I prune a rose bush? What language is spoken in Brazil? Which metal is liquid at room temperature?
Who was the first woman in space? How do solar panels make electricity? What does the word serendipity mean?
How deep is the Mariana Trench? How do bees find their way back to the hive? What year did the Titanic sink?
How do I get candle wax out of a carpet? What is the square root of two hundred and twenty five? What is basalt?
Which countries border Switzerland? How do you play the saxophone? What makes bread rise? Who discovered penicillin?
How are diamonds formed? What is the national bird of New Zealand? How does a piano produce its sound?
When did the Berlin Wall fall? What should I feed a hedgehog? How do I knit a scarf? What is the currency of Thailand?
Why do leaves turn red in autumn? How many strings does a harp have? What is the speed of sound under water?
Who invented the telephone? How do I remove rust from an old bicycle chain? Where do eels spawn? Why is rust red?
What is the best time of year to see whales in Iceland? How do volcanoes erupt? What is the rhyme scheme of a sonnet?
How many chromosomes does a fruit fly have? Which philosopher wrote The Republic? How do I make a compost heap?
What is photosynthesis? Who won the chess championship in 1972? What does a stethoscope measure? What do koalas eat?
How do elevators know where to stop? What is the population of Iceland? How do you say thank you in Japanese?
What is quantum entanglement? Which bird lays the largest egg? How do I fix a leaking tap? How do I write a haiku?
Why does the moon have phases? What is the oldest university in Europe? What is the atomic number of carbon?
Tell me how a clutch works in a manual car. Explain inflation to a child. Give me a recipe for lentil curry.
Show me how to tie a bowline knot. Tell me a joke about a horse. Describe the taste of durian. Name three rivers.
List the kings of France after 1600. Translate good morning into Finnish. Convert twelve miles into kilometres.
"""

_OF_OTHER_PEOPLE = """
What did the senator say about the farming bill? Where did the expedition find the fossil? Who feeds Yuki's iguana?
When did the orchestra announce its new conductor? Who repaired the lighthouse after the storm? Has Ingmar called?
What did the judge decide in the patent case? Which team won the regatta on Saturday? Is Osvaldo allergic to shellfish?
Where was the stolen painting found? What did the astronomers see through the telescope? Does Ragnar have a twin?
Why did the factory close its second assembly line? How much did the museum pay for the statue?
What did Igor build in his greenhouse? Where did Fatima leave the spare key of the boathouse? What does Zdenka sell?
When did Bartholomew move to Antarctica? What instrument does Yuki's grandfather repair? Why was Ragnar late?
Which mountain did Priscilla climb before breakfast? What colour is Svetlana's helicopter? How tall is Casimir?
How many goats does Mateo keep? What did Anselm's uncle carve out of walnut wood? Who taught Leocadia to blow glass?
How often does Dmitri visit the beekeepers' guild? What is the name of Olumide's parrot? Where was Oriana born?
What did Gwendolyn bring back from the salt mine? When is Thaddeus going to publish his atlas of moss?
What does Hedwig like to do on her days off? What kind of books does Ferdinand read to his nieces?
Which country does Amarachi want to visit next summer? What gift did Wolfgang receive from his fencing teacher?
How did Seraphina feel after the sled race? When did Kwame start taking pottery classes? Who is Ottilie's best friend?
What are Isidora's plans for the weekend? What advice did Balthazar give about the loan? Why was Mireille so proud?
What does Theodora think about the new zoning law? What is Rupert's favourite opera? When is Umberto's birthday?
Where did Anoushka go on her honeymoon? How long has Cornelius been a locksmith? What did Xiomara's brother study?
What happened at Eustace's retirement party? Which sport did Philippa give up after her injury? Did Zoltan get the job?
How many siblings does Ambrose have? What did Nkechi and her mother cook for the wedding? What did Lorcan lose at sea?
What was the name of the shop that Evander opened? How did Marguerite learn to juggle? Who adopted Bogdan's llama?
What did Sigrid decide to do with her inheritance? When did Alasdair last see a dentist? What scares Perpetua most?
What pets does Calliope have? Which job did Horatio apply for in the spring? What has Tindra been painting lately?
What motivated Leopold to join the volunteer fire brigade? Why does Evgenia avoid trains? What did Quentin promise?
What does Ignatius do to relax after a long day? When did Rosalind's choir perform for the first time?
Which charity did Desmond raise money for? What did the twins name their sailing boat? Who designed Astrid's tattoo?
Can you order forty litres of paint for the barn? Did I ever mention the meteorite in the attic? Is the kiln warm yet?
What was the password of the observatory's guest network? Please book the squash court for the ambassador.
How many people signed up for the falconry course? What is the serial number of the loom? Who borrowed my sextant?
"""


def _questions(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.split(r"(?<=[?.]) ", " ".join(text.split()))))


UNRELATED: tuple[str, ...] = (*_questions(_OF_THE_WORLD), *_questions(_OF_OTHER_PEOPLE))


ENGLISH = ""  # also used if the language cannot be recognised
OTHER_SCRIPT = "another script"
_SCRIPTS = {  # of languages that are recognised by their letters
    "ja": late_pattern("[\u3040-\u30ff]"),
    "zh": late_pattern("[\u4e00-\u9fff]"),
    "ko": late_pattern("[\uac00-\ud7af]"),
    "th": late_pattern("[\u0e00-\u0e7f]"),
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


def _questions_elsewhere(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"(?<=\?) ", " ".join(text.split()).replace(" ?", "?")))


UNRELATED_IN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        ENGLISH: UNRELATED,
        "de": _questions_elsewhere(_GERMAN),
        "fr": _questions_elsewhere(_FRENCH),
        "es": _questions_elsewhere(_SPANISH),
        "it": _questions_elsewhere(_ITALIAN),
        "pt": _questions_elsewhere(_PORTUGUESE),
        "nl": _questions_elsewhere(_DUTCH),
    }
)

_OURS = tuple(code for code in UNRELATED_IN if code)


def questions_in_language(language: str) -> tuple[str, ...]:
    """The built-in questions in a language; an error if there are none.

    >>> questions_in_language("sv")
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
        "your own questions."
    )


def language_asked_in(question: str) -> str:
    """The language of a question; "" for English or if the language cannot be recognised.

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
    """The language of most of the questions.

    >>> common_language(["Wer hat das gesagt?", "Wo wohnt sie denn jetzt?", "Why?"])
    'de'
    """
    return Counter(map(language_asked_in, questions)).most_common(1)[0][0]
