"""When do German, French, Spanish and Chinese questions mean? Written by hand, in two halves, as those in English.

All are asked on Wednesday, 13 May 2026, at noon UTC. The rules were tuned on one half of each table.
"""

from __future__ import annotations

from tests.cue.time.questions import Question, questions

GERMAN = """
2026-04-15..2026-04-30 | Was haben wir vor drei Wochen beschlossen?
2026-05-12..2026-05-13 | Was habe ich gestern gegessen?
2026-05-11..2026-05-12 | Wer hat vorgestern angerufen?
2019-01-01..2020-01-01 | Wo habe ich 2019 gearbeitet?
2021-06-01..2021-09-01 | Wer war im Sommer 2021 beim Wandern dabei?
2026-05-04..2026-05-11 | Was kam letzte Woche bei der Besprechung heraus?
2025-01-01..2026-01-01 | Wie viel habe ich letztes Jahr für Flüge ausgegeben?
2026-04-01..2026-05-01 | War ich letzten Monat beim Zahnarzt?
2026-05-08..2026-05-09 | Was habe ich Sam letzten Freitag versprochen?
2023-05-07..2023-05-08 | Was ist am 7. Mai 2023 passiert?
2023-05-07..2023-05-08 | Worüber sprachen wir am 07.05.2023?
2021-03-01..2021-04-01 | Welche Bücher habe ich im März 2021 gelesen?
2026-03-01..2026-04-01 | Was hat der Vermieter im März geschrieben?
2025-03-01..2025-04-01 | Wo waren wir im März letzten Jahres?
2026-05-11..2026-05-12 | Was hat Priya am Montag gesagt?
2020-01-01.. | Wie viele Stellen hatte ich seit 2020?
..2018-01-01 | Wo haben wir vor 2018 gewohnt?
2026-02-10.. | Was habe ich in den letzten drei Monaten gelernt?
2025-06-01..2025-09-01 | Wohin sind wir letzten Sommer gefahren?
2026-05-10..2026-05-11 | Welche Tabletten habe ich vor 3 Tagen genommen?
2024-05-01..2024-06-01 | Was stand im Mai 2024 im Vertrag?
2024-11-12..2025-11-12 | Was habe ich vor einem Jahr gelesen?
earliest | Was hatten wir ursprünglich geplant?
earliest | Was war anfangs das Ziel?
past | Wo habe ich früher gewohnt?
past | Wie hieß damals mein Chef?
present | Wo arbeite ich derzeit?
present | Welches Auto fahre ich jetzt?
present | Was ist die aktuelle Adresse von Ana?
none | Wie heißt meine Schwester?
none | Welchen Tee mag Ana am liebsten?
none | Was steht im Vertrag über die Miete?
none | Was muss ich am Freitag abgeben?
none | Wo liegt der Schlüssel für das Fahrrad?
none | Wer hat Angst vor Hunden?
none | Wie viele Personen passen in den Saal?
none | Wann werden wir nächste Woche fahren?
none | Was sagte Herr März über den Plan?
none | Gibt es im Winter Erdbeeren?
none | Die Rechnung Nummer 20211 liegt wo?
"""
FRENCH = """
2026-04-15..2026-04-30 | Qu'avons-nous décidé il y a trois semaines ?
2026-05-12..2026-05-13 | Qu'est-ce que j'ai mangé hier ?
2026-05-11..2026-05-12 | Qui a appelé avant-hier ?
2019-01-01..2020-01-01 | Où est-ce que je travaillais en 2019 ?
2021-06-01..2021-09-01 | Qui était à la randonnée de l'été 2021 ?
2026-05-04..2026-05-11 | Que s'est-il passé à la réunion la semaine dernière ?
2025-01-01..2026-01-01 | Combien ai-je dépensé en vols l'année dernière ?
2026-04-01..2026-05-01 | Ai-je vu le dentiste le mois dernier ?
2026-05-08..2026-05-09 | Qu'ai-je promis à Sam vendredi dernier ?
2023-05-07..2023-05-08 | Que s'est-il passé le 7 mai 2023 ?
2023-05-07..2023-05-08 | De quoi avons-nous parlé le 07/05/2023 ?
2021-03-01..2021-04-01 | Quels livres ai-je lus en mars 2021 ?
2026-03-01..2026-04-01 | Qu'est-ce que le propriétaire a écrit en mars ?
2025-03-01..2025-04-01 | Où étions-nous en mars de l'année dernière ?
2026-05-11..2026-05-12 | Qu'est-ce que Priya a dit lundi ?
2020-01-01.. | Combien d'emplois ai-je eus depuis 2020 ?
..2018-01-01 | Où habitions-nous avant 2018 ?
2026-02-10.. | Qu'ai-je appris ces trois derniers mois ?
2025-06-01..2025-09-01 | Où sommes-nous allés l'été dernier ?
2026-05-10..2026-05-11 | Quel médicament ai-je pris il y a 3 jours ?
2024-05-01..2024-06-01 | Que disait le contrat en mai 2024 ?
2024-11-12..2025-11-12 | Qu'est-ce que je lisais il y a un an ?
earliest | Qu'est-ce qui était prévu à l'origine ?
earliest | Quel était le but au début ?
past | Où habitais-je autrefois ?
past | Comment s'appelait mon chef à l'époque ?
present | Où est-ce que je travaille actuellement ?
present | Quelle voiture ai-je maintenant ?
present | Quelle est l'adresse actuelle d'Ana ?
none | Comment s'appelle ma sœur ?
none | Quel thé Ana préfère-t-elle ?
none | Que dit le contrat sur le loyer ?
none | Que dois-je rendre vendredi ?
none | Où est la clé du vélo ?
none | Combien de personnes tiennent dans la salle ?
none | Quand allons-nous partir la semaine prochaine ?
none | Qui a peur des chiens ?
none | Y a-t-il des fraises en hiver ?
none | Où est la facture numéro 20211 ?
none | Le dernier roman d'Ana parle de quoi ?
"""
SPANISH = """
2026-04-15..2026-04-30 | ¿Qué decidimos hace tres semanas?
2026-05-12..2026-05-13 | ¿Qué comí ayer?
2026-05-11..2026-05-12 | ¿Quién llamó anteayer?
2019-01-01..2020-01-01 | ¿Dónde trabajaba en 2019?
2021-06-01..2021-09-01 | ¿Quién vino a la excursión en el verano de 2021?
2026-05-04..2026-05-11 | ¿Qué salió de la reunión la semana pasada?
2025-01-01..2026-01-01 | ¿Cuánto gasté en vuelos el año pasado?
2026-04-01..2026-05-01 | ¿Fui al dentista el mes pasado?
2026-05-08..2026-05-09 | ¿Qué le prometí a Sam el viernes pasado?
2023-05-07..2023-05-08 | ¿Qué pasó el 7 de mayo de 2023?
2023-05-07..2023-05-08 | ¿De qué hablamos el 07/05/2023?
2021-03-01..2021-04-01 | ¿Qué libros leí en marzo de 2021?
2026-03-01..2026-04-01 | ¿Qué escribió el casero en marzo?
2025-03-01..2025-04-01 | ¿Dónde estuvimos en marzo del año pasado?
2026-05-11..2026-05-12 | ¿Qué dijo Priya el lunes?
2020-01-01.. | ¿Cuántos empleos he tenido desde 2020?
..2018-01-01 | ¿Dónde vivíamos antes de 2018?
2026-02-10.. | ¿Qué aprendí en los últimos tres meses?
2025-06-01..2025-09-01 | ¿Adónde fuimos el verano pasado?
2026-05-10..2026-05-11 | ¿Qué medicina tomé hace 3 días?
2024-05-01..2024-06-01 | ¿Qué decía el contrato en mayo de 2024?
2024-11-12..2025-11-12 | ¿Qué leía hace un año?
earliest | ¿Qué planeamos originalmente?
earliest | ¿Cuál era el objetivo al principio?
past | ¿Dónde vivía antiguamente?
past | ¿Cómo se llamaba mi jefe en aquel entonces?
present | ¿Dónde trabajo actualmente?
present | ¿Qué coche tengo ahora?
present | ¿Cuál es la dirección actual de Ana?
none | ¿Cómo se llama mi hermana?
none | ¿Qué té prefiere Ana?
none | ¿Qué dice el contrato sobre el alquiler?
none | ¿Qué tengo que entregar el viernes?
none | ¿Dónde está la llave de la bicicleta?
none | ¿Cuántas personas caben en la sala?
none | ¿Cuándo vamos a salir la próxima semana?
none | ¿Quién tiene miedo de los perros?
none | ¿Hay fresas en invierno?
none | ¿Dónde está la factura número 20211?
none | ¿De qué trata la última novela de Ana?
"""
CHINESE = """
2026-04-15..2026-04-30 | 三周前我们决定了什么?
2026-05-12..2026-05-13 | 昨天我吃了什么?
2026-05-11..2026-05-12 | 前天谁打了电话?
2019-01-01..2020-01-01 | 2019年我在哪里工作?
2021-06-01..2021-09-01 | 2021年夏天谁参加了徒步?
2026-05-04..2026-05-11 | 上周的会议有什么结果?
2025-01-01..2026-01-01 | 去年我在机票上花了多少钱?
2026-04-01..2026-05-01 | 上个月我去看牙医了吗?
2026-05-08..2026-05-09 | 上周五我答应了小王什么?
2023-05-07..2023-05-08 | 2023年5月7日发生了什么?
2021-03-01..2021-04-01 | 2021年3月我读了哪些书?
2026-03-01..2026-04-01 | 房东三月写了什么?
2025-03-01..2025-04-01 | 去年3月我们在哪里?
2026-05-11..2026-05-12 | 星期一小丽说了什么?
2020-01-01.. | 自从2020年以来我换了几份工作?
..2018-01-01 | 2018年以前我们住在哪里?
2026-02-10.. | 最近三个月我学到了什么?
2025-06-01..2025-09-01 | 去年夏天我们去了哪里?
2026-05-10..2026-05-11 | 3天前我吃了什么药?
2024-05-01..2024-06-01 | 2024年五月的合同写了什么?
2024-11-12..2025-11-12 | 一年前我在读什么?
2026-04-27..2026-05-04 | 上上周谁来过?
earliest | 我们最初的计划是什么?
earliest | 当初的目标是什么?
past | 我以前住在哪里?
past | 从前的老板叫什么?
present | 我目前在哪里工作?
present | 现在开什么车?
present | 小安最新的地址是什么?
none | 我妹妹叫什么名字?
none | 小安喜欢喝什么茶?
none | 合同里关于房租怎么说?
none | 自行车的钥匙在哪里?
none | 会议室能坐多少人?
none | 谁怕狗?
none | 下周我们什么时候出发?
none | 明天要交什么?
none | 冬天有草莓吗?
none | 发票20211在哪里?
none | 前面的商店卖什么?
"""
TABLES: dict[str, list[Question]] = {
    "German": questions(GERMAN),
    "French": questions(FRENCH),
    "Spanish": questions(SPANISH),
    "Chinese": questions(CHINESE),
}
