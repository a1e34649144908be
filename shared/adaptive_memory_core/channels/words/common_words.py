"""Which common words besides function words tell which language a short text is in? Days, family, frequent verbs."""

from __future__ import annotations

from collections.abc import Mapping

_LISTS = {
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
COMMON_WORDS: Mapping[str, frozenset[str]] = {code: frozenset(said.split()) for code, said in _LISTS.items()}
