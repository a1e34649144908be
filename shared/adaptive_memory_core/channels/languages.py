"""Languages: their codes, function words, and common words.

A word that several languages share is listed for each of them.

The stemmers are Snowball's (https://snowballstem.org). English and languages that are not listed here use `stem`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

STOP_WORDS = frozenset(
    """
    a about above after again all am an and any are aren as at be because been before being below between both but
    by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn
    has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me more most mustn my myself no nor not of off on once only or other our ours ourselves out over own re s
    same shall shan she should shouldn so some such t than that the their theirs them themselves then there these
    they this those through to too under until up us ve very was wasn we were weren what when where which while
    who whom why will with won would wouldn you your yours yourself yourselves
    """.split()  # noqa: SIM905 - as a list it would be longer than all other languages together
)
_FUNCTION_WORDS = {
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da
        damit dann das dass dein deine deinem deinen deiner dem den denn der deren des dich die dies diese diesem
        diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für
        gegen haben habe hat hast hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in
        ins ist jede jedem jeden jeder jetzt kann kannst kein keine keinem keinen keiner können man mein meine
        meinem meinen meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine
        seinem seinen seiner seit sich sie sind so soll sollen über um und uns unser unsere unserem unseren unserer
        unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer
        werde werden wie wieder will wir wird wo woher wohin womit wurde wurden würde zu zum zur zwischen wollte
        sollte konnte hatten geht gibt macht gerade heute mal""",
    "fr": """
        ai aie ainsi alors après as au aussi autre aux avaient avais avait avant avec avez avoir avons c ce ceci
        cela celle celui ces cet cette ceux chez ci comme comment d dans de depuis des donc dont du elle elles en
        encore entre es est et étaient étais était étant été être eu eux fait fut il ils j je jusqu l la là le les
        leur leurs lors lorsque lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas
        peu peut peux plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses
        si sommes son sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un une va vais vers vos
        votre vous y quelqu aujourd hui""",
    "es": """
        a al algo algún alguna alguno algunos ante antes aquel aquella aquí así aún aunque cada como cómo con
        contra cual cuál cuáles cuando cuándo cuánto cuánta cuántos de del desde donde dónde dos durante e el él
        ella ellas ellos en entre era eran eres es esa ese eso esta está estaba están estar estas este esto estos
        estoy fue fueron ha había han has hasta hay he hemos hoy la las le les lo los más me mi mí mis mientras
        mucho muy nada ni no nos nosotros nuestra nuestro nuestros o os otra otro otros para pero poco por porque
        qué que quien quién se sea ser si sí sido sin sobre somos son soy su sus suyo también tan tanto te tengo
        tenía ti tiene tienen todo todos tu tú tus un una uno unos usted va y ya yo""",
    "it": """
        a abbiamo agli ai al alla alle allo anche ancora avere aveva avevano c che chi ci ciò col come con cosa cui
        d da dagli dai dal dalla dalle dallo degli dei del dell della delle dello di dopo dove due e è ed era erano
        essere fa fra fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio molto
        ne negli nei nel nell nella nelle nello no noi non nostra nostro o ogni perché per però più poi prima qual
        quale quali quando quanto quanti quella quelle quelli quello questa queste questi questo qui s se sei senza
        si sia siamo sono sta stata stato sua sue sugli sui sul sulla sulle suo suoi te ti tra tu tua tuo tutti
        tutto un una uno v vi voi all sull dall""",
    "pt": """
        à a ainda além algo alguém algum alguma antes ao aos aquela aquele aqui as às até cada com como da das de
        dela dele deles depois desde do dos e é ela elas ele eles em entre era eram és essa esse esta está estão
        estava este estou eu fazer foi foram há isso isto já la lhe lhes lo mais mas me mesmo meu meus minha minhas
        muito muitos na não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por
        porque qual quais quando quanto quantos que quem se sem ser seu seus só sobre são somos sou sua suas também
        tem têm tenho ter tinha toda todo todos tu tua um uma umas uns você vocês vai vou""",
    "nl": """
        aan al alle alleen als altijd andere ben bent bij daar dan dat de deze die dit doen door dus een eens en er
        ge geen geweest haar had hadden heb hebben hebt heeft hem het hier hij hoe hoeveel hun iemand iets ik in is
        ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog
        nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom
        wanneer want waren was wat we weer welk welke werd werden wezen wie wij wil worden wordt zal ze zei zelf
        zich zij zijn zo zonder zou gaat""",
    "sv": """
        alla allt alltså att av bara blev bli blir bort då de dem den denna deras dess dessa det detta dig din dina
        dit ditt du där efter ej eller en ens er era ert ett från för få får gick går ha hade han hans har henne
        hennes honom hos hur här i icke ingen inget inom inte ja jag ju kan kunde lite man med mellan men mig min
        mina mitt mot mycket måste ni nu när någon något några och också om oss på samma sedan sig sin sina sitt
        ska skulle som så sådan till två under upp ut utan vad var varför vara varit varje vart vem vems vi vid
        vilka vilken vilket vill vår våra vårt än är åt över""",
    "da": """
        ad af alle alt anden at bare blev blive bliver da de dem den denne der deres det dette dig din dine disse
        dit du efter eller en end er et for fra få får før gik går ham han hans har havde have hende hendes her hos
        hun hvad hvem hver hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind ingen ja jeg jer kan kom
        kun kunne man mange med meget mellem men mig min mine mit mod ned nej nogen noget nogle nu når og også om
        op os over på sammen selv sig sin sine sit skal skulle som så til ud uden under var ved vi vil ville vores
        være været""",
    "no": """
        alle alt at av bare begge ble blei bli blir blitt da de deg dei dem den denne der dere deres det dette di
        din disse ditt du eller en enn er et ett etter for fordi fra få får før gikk går ha hadde han hans har
        hennes henne her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke ingen inn ja jeg kan kom kun
        kunne man mange med meg meget mellom men mer min mine mitt mot mye må når ned nei noe noen nå og også om
        opp oss over på samme seg selv si sin sine sitt skal skulle slik som så til ut uten var ved vi vil ville
        vår våre vært være""",
    "fi": """
        ei eivät ehkä eli en enää ennen ero että he heidän hän hänellä hänen häntä ilman itse ja jo joka joko jolla
        jos jossa joten jotka juuri jälkeen kaikki kanssa kenen ketkä kerran koska koskaan kuin kuinka kuka kun
        kyllä me meidän mihin miksi mikä millainen milloin minkä minne minua minulla minulle minun minut minä missä
        mistä miten mitä mukaan mutta myös ne nyt niin niitä noin nämä ole olemme olen oletko oli olin olisi olivat
        ollut on ovat paljon sekä sen se siellä siitä sillä sinne sinun sinä sitten sitä tai te tuo tulee tuli tämä
        tämän tässä tätä vain vaikka vielä voi""",
    "tr": """
        acaba ama ancak artık aslında az bana bazı belki ben benden beni benim bile bir biraz birçok biri birkaç
        biz bize bizi bizim bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de değil den diye doğru
        dolayı en gibi göre hangi hani hatta hem henüz hep hepsi her hiç için ile ise işte ki kadar kez kim kimin
        kimse madem mi mı mu mü nasıl ne neden nedir nerede nereye nereden niçin niye o ona ondan onlar onların onu
        onun orada oysa öyle pek rağmen sadece sana sen seni senin siz size sizin sonra şey şimdi şu şuna şunu tüm
        var ve veya ya yani yok yoksa zaten zaman nin nın nun nün dan tan ten idi olarak oldu olduğu""",
    "ru": """
        а без более бы был была были было быть в вам вас ваш ведь весь во вот все всё всего всех вы где да даже для
        до его ее её ей если есть еще ещё же за здесь и из или им их к как какая какие какой каком какую ко когда
        кто куда ли либо лишь мне много мной мной может мой моя мои моего моей моему мою мы на над нам нас наш наша
        наше не него нее неё нет ни них но ну о об однако он она они оно от откуда очень по под после потом потому
        почему при про с сам свой своей свою свои себе себя сейчас со так также такой там те тебе тебя тем то того
        тоже той только том ты тут у уже хотя чего чей чем что чтобы чтоб эта эти это этого этой этом этот эту я
        сколько зачем""",
    "pl": """
        a aby ale ani bardzo bez bo by być był była było były będzie całkiem ci cię co czego czy czyj dla dlaczego
        do dziś gdy gdzie go i ich ile im innych ja jak jaka jaki jakie je jego jej jest jestem jeszcze jeśli
        jeżeli już każdy kiedy kim kto która które którego której którą który których którzy lub ma mam mi mną mnie
        moja moje może mój mu my na nad nam nas nasz nasza nie nic nich nią niej nim o od on ona one oni oraz po
        pod ponieważ przed przez przy się skąd są swój swoja swoje ta tak także tam te tego tej ten też to tobie tu
        tutaj twój twoja ty tylko tym u w we wszystko wszystkie z za ze że""",
    "cs": """
        a aby ale ani až bez bude budou by byl byla byli bylo být chce co což dnes do ho i já jak jaká jaké jaký
        jako je jeho její jejich jen ještě ji jím jsem jsi jsme jsou jste k kam kde kdo kdy kdyby když která které
        kterou který má mají mám mě mezi mi mně moje můj může my na nad nám náš nás naše ne nebo není než nic o od
        odkud on ona oni ono pak po pod podle pro proč proto protože před při s se si své svou svůj ta tak také tam
        tady ten tento této tím to tobě tom toho tomu toto tu tuto tvůj ty u už v vám vás váš ve všechno vy z za ze
        že""",
    "hu": """
        a abban ahhoz ahol aki akik akkor alatt által általában amely ami amikor amit az azért azok azon azt azután
        azzal be bele belül benne ci csak de e ebben eddig egy egyes egyik el előtt én ennek erre és és ez ezek
        ezért ezt fel felé ha hanem hogy hogyan hol honnan hová így ill ilyen is itt jó kell ki kivel le lehet lesz
        lett ma már másik meg mely mennyi mert mi mikor milyen mindig miért mint minden mit mivel most nagyon ne
        nekem nekünk nélkül nem neki nincs ő ők őket össze olyan ott pedig persze s sem semmi sok szerint számára
        te több tovább után utolsó vagy vagyok való van vannak vele volt voltak voltam én engem""",
    "ro": """
        a acea aceasta această acest acesta aceste acestea acești aceștia acolo acum ai aici al ale am ar are aș
        așa asta ați au avea avem avut ba ca când căci către ce cea cei cel cele celor chiar ci cine cu cui cum da
        dacă dar de deci decât despre din dintr după ea ei el ele era erau este eu fi fie fiind fost iar îi îl îmi
        împreună în înainte încât între îți la le li lor lui mă mai mea mei mele meu mi mie mine mult ne nici nimic
        niște noastră noi nostru nu o ori pe pentru peste poate prin s sa să sale sau se și sunt sub te tău toate
        tot toți tu un una unde unei unele unor unui va vă vom vor vreau""",
    "el": """
        και το τα τη την της τις τον του των ο η οι ένα ένας μια μία στο στη στην στον στα στις με σε για από που
        πού ποιος ποια ποιο πως πώς πότε όταν είναι ήταν έχω έχει είχα είχε δεν θα να μου σου μας σας τους αυτό
        αυτή αυτός ότι αν αλλά ή τι γιατί πολύ πιο κάτι""",
    "hi": """
        का के की को में से है हैं था थी थे और पर ने यह वह ये वे मैं हम तुम आप मेरा मेरी मेरे क्या कब कहाँ कौन कैसे
        क्यों किस किसने लिए तक भी ही हो कि जो एक इस उस कर""",
    "ar": """
        في من على إلى عن مع هذا هذه ذلك التي الذي ما ماذا متى أين كيف لماذا هل هو هي أنا أن إن كان كانت لا لم لن قد
        و أو ثم بعد قبل كل""",
}
FUNCTION_WORDS: Mapping[str, frozenset[str]] = {code: frozenset(said.split()) for code, said in _FUNCTION_WORDS.items()}


_COMMON_WORDS = {
    "de": """
        montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember
        gestern morgen abend woche monat jahr jahre uhr tag tage zeit haus mutter vater bruder schwester kind
        kinder frau herr heißt liegt steht kommt kommen spielt findet mag möchte gern gut neu neue neuen alte alten
        viel viele zwei drei vier fünf sechs sieben acht neun zehn zwölf""",
    "fr": """
        lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août
        septembre octobre novembre décembre hier demain matin soir semaine mois année ans heure heures jour jours
        temps maison mère père frère soeur sœur enfant fille fils femme mari monsieur madame appelle appellent
        vient faut faire dit nouveau nouvelle vieux bon bonne petit petite grand grande deux trois quatre cinq sept
        huit neuf dix douze""",
    "es": """
        lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto
        septiembre octubre noviembre diciembre ayer mañana tarde noche semana mes año años hora horas día días
        tiempo casa madre padre hermano hermana hijo hija niño niños señor señora llama llaman viene hace hacer
        dijo quiere gusta nuevo nueva viejo bueno pequeño grande dos tres cuatro cinco seis siete ocho nueve diez
        doce""",
    "it": """
        lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio marzo aprile maggio giugno luglio
        agosto settembre ottobre novembre dicembre ieri oggi domani mattina sera settimana mese anno anni ora ore
        giorno giorni tempo casa madre padre fratello sorella figlio figlia bambini signor signora chiama chiamano
        viene fatto fare detto vuole piace nuovo nuova vecchio buono piccolo grande due tre quattro cinque sei
        sette otto nove dieci""",
    "pt": """
        segunda terça quarta quinta sexta sábado domingo janeiro fevereiro março abril maio junho julho agosto
        setembro outubro novembro dezembro ontem hoje amanhã manhã noite semana mês ano anos hora horas dia dias
        tempo casa mãe pai irmão irmã filho filha criança senhor senhora chama chamam vem fazer faz disse quer
        gosta novo nova velho bom pequeno dois duas três quatro cinco seis sete oito nove dez doze""",
    "nl": """
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei juni juli augustus
        oktober gisteren vandaag morgen avond week maand jaar jaren uur dag dagen tijd huis moeder vader broer zus
        kind kinderen vrouw meneer mevrouw heet heten staat ligt komt komen wordt wil goed nieuwe oude veel twee
        drie vier vijf zes zeven acht negen tien twaalf""",
    "sv": """
        måndag tisdag onsdag torsdag fredag lördag söndag januari februari mars juni juli augusti oktober igår idag
        imorgon morgon kväll vecka månad år dag dagar tid klockan hus mamma pappa bror syster barn fru herr heter
        kommer ligger står finns gillar bra ny nya gamla många tre fyra fem sex sju åtta nio tio tolv gjorde sade""",
    "da": """
        mandag tirsdag onsdag torsdag fredag lørdag søndag januar februar marts juni juli august oktober igår idag
        imorgen morgen aften uge måned år dag dage tid klokken hus mor far bror søster barn børn fru herr hedder
        kommer ligger står findes godt ny nye gamle tre fire fem seks syv otte ni ti tolv gjorde sagde""",
    "no": """
        mandag tirsdag onsdag torsdag fredag lørdag søndag januar februar mars juni juli august oktober igår idag
        imorgen morgen kveld uke måned år dag dager tid klokka klokken hus mamma pappa bror søster barn heter
        kommer ligger står finnes bra ny nye gamle tre fire fem seks sju syv åtte ni ti tolv gjorde sa""",
    "tr": """
        pazartesi salı çarşamba perşembe cuma cumartesi pazar ocak şubat mart nisan mayıs haziran temmuz ağustos
        eylül ekim kasım aralık dün bugün yarın sabah akşam gece gün günü günleri hafta haftadır ay yıl saat saatte
        ev evde anne annem baba babam kardeşim abla çocuk hanım bey adı oldu var yapıyor iyi yeni eski büyük küçük
        iki üç dört beş altı yedi sekiz dokuz kaç yılın geldi gitti istiyor""",
    "fi": """
        maanantai maanantaina tiistai tiistaina keskiviikko torstai torstaina perjantai perjantaina lauantai
        lauantaina sunnuntai tammikuu kesäkuu heinäkuu eilen tänään huomenna aamulla illalla viikko kuukausi vuosi
        vuotta kello päivä aika talo äiti isä veli sisko lapsi hyvä uusi vanha kaksi kolme neljä viisi kuusi""",
    "pl": """
        poniedziałek wtorek środa czwartek piątek sobota niedziela stycznia lutego marca kwietnia maja czerwca
        lipca sierpnia września października wczoraj jutro rano wieczorem tydzień miesiąc rok lat godzina dzień dom
        matka ojciec brat siostra dziecko nowy nowa stary dobry dwa trzy cztery pięć""",
    "cs": """
        pondělí úterý středa čtvrtek pátek sobota neděle ledna února března dubna května června července srpna
        včera zítra ráno večer týden měsíc rok roku let hodin den dům matka otec bratr sestra dítě nový nová starý
        dobrý dva tři čtyři pět""",
    "hu": """
        hétfő kedd szerda csütörtök péntek szombat vasárnap január február március április május június július
        tegnap holnap reggel este hét hónap év éve óra órakor nap ház anya apa testvér gyerek új régi kettő két
        három négy öt""",
    "ro": """
        luni marți miercuri joi vineri sâmbătă duminică ianuarie februarie martie aprilie iunie iulie septembrie
        octombrie ieri azi mâine dimineață seara săptămână lună an ani ora zi zile casă mamă tată frate soră copil
        nou nouă vechi bun doi două trei patru cinci""",
}
COMMON_WORDS: Mapping[str, frozenset[str]] = {code: frozenset(said.split()) for code, said in _COMMON_WORDS.items()}


SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
CODES = frozenset(SNOWBALL)
_SAME = {"nb": "no", "nn": "no", "in": "id"}  # other codes for a language
_LETTERS = {  # letters with a mark that are separate letters in the language; all other marks are folded
    "cs": "áčďéěíňóřšťúůýž",
    "da": "åæø",
    "es": "ñ",
    "et": "äõöüšž",
    "fi": "åäö",
    "hu": "áéíóöőúüű",
    "lt": "ąčęėįšųūž",
    "no": "åæø",
    "pl": "ąćęłńóśźż",
    "sv": "åäö",
    "tr": "çğöşü",
}
_TWICE = frozenset(("nl", "pt"))  # languages whose stemmers need a second round to unite some forms of a word
_LATIN = "\u0250"  # marks are folded on letters before this one, and on Greek ones
_GREEK = ("\u0370", "\u03ff")
_WITHOUT_MARK = str.maketrans("ıøłđ", "iold")


def language_given(value: object) -> str | None:
    """The language in a record's metadata, as two letters; None if it is missing or not listed here.

    >>> [language_given(value) for value in ("de", "pt-BR", "FR_ca", "nb", "en", "zh", "python", 3, None)]
    ['de', 'pt', 'fr', 'no', 'en', 'en', None, None, None]
    """
    if not isinstance(value, str):
        return None
    code = value.strip().lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    if code in _AS_ENGLISH:
        return ENGLISH
    return code if code in CODES else None


ENGLISH = "en"
_AS_ENGLISH = frozenset((ENGLISH, "zh", "ja", "ko", "th"))  # the last four are recognised by their script


def is_function_word(word: str, language: str) -> bool:
    return word in FUNCTION_WORDS.get(language, ())


def lower(word: str, language: str | None) -> str:
    """The word in lower case; Turkish has two kinds of i.

    >>> lower("IŞIK", "tr"), lower("İzmir", "tr"), lower("IT", "de")
    ('ışık', 'izmir', 'it')
    """
    if language == "tr":
        word = word.replace("İ", "i").replace("I", "ı")
    return word.lower()


@lru_cache(maxsize=32_768)  # of words of at most 60 characters
def stem_in(word: str, language: str) -> str:
    """A lower-case word without its endings and accents.

    >>> stem_in("häuser", "de"), stem_in("haus", "de"), stem_in("mueller", "de"), stem_in("müller", "de")
    ('haus', 'haus', 'mull', 'mull')
    >>> stem_in("canción", "es"), stem_in("canciones", "es"), stem_in("år", "sv"), stem_in("ar", "sv")
    ('cancion', 'cancion', 'år', 'ar')
    """
    stemmer = _stemmer(language)
    for _ in range(1 + (language in _TWICE)):
        word = folded(str(stemmer.stemWord(word)), language)
    return word


def folded(word: str, language: str) -> str:
    """The word without marks, except on letters that are separate letters in the language."""
    if word.isascii():
        return word
    letters = _LETTERS.get(language, "")
    return "".join(one if one in letters else _bare(one) for one in word).translate(_fold_of(language))


def _fold_of(language: str) -> dict[int, int]:
    kept = _LETTERS.get(language, "")
    return {one: other for one, other in _WITHOUT_MARK.items() if chr(one) not in kept}


def _bare(letter: str) -> str:
    """A letter without its marks, in scripts where marks are accents: й is not и.

    >>> [_bare(one) for one in "éñőάй"]
    ['e', 'n', 'o', 'α', 'й']
    """
    if letter < _LATIN or _GREEK[0] <= letter <= _GREEK[1]:
        return "".join(one for one in unicodedata.normalize("NFD", letter) if not unicodedata.combining(one))
    return letter


def _stemmer(language: str) -> Any:
    """A new stemmer for each word, which takes 3 microseconds: a stemmer may be used by one thread only."""
    import Stemmer  # only needed for languages other than English

    return Stemmer.Stemmer(SNOWBALL[language], 0)
