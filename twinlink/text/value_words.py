"""Words for months, large numbers and units, by language, in lower case."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

_MONTHS = {
    "ar": "يناير|كانون_الثاني فبراير|شباط مارس|آذار أبريل|ابريل|نيسان مايو|أيار يونيو|يونيه|حزيران يوليو|يوليه|تموز"
    " أغسطس|آب سبتمبر|أيلول أكتوبر|تشرين_الأول نوفمبر|تشرين_الثاني ديسمبر|كانون_الأول",
    "cs": "ledna|leden února|únor března|březen dubna|duben května|květen června|červen července|červenec srpna|srpen"
    " září října|říjen listopadu|listopad prosince|prosinec",
    "de": "januar|jänner|jan februar|feber|feb märz|mär april|apr mai juni|jun juli|jul august|aug september|sept|sep"
    " oktober|okt november|nov dezember|dez",
    "el": "ιανουαρίου|ιανουάριος|ιαν φεβρουαρίου|φεβρουάριος|φεβ μαρτίου|μάρτιος|μαρ απριλίου|απρίλιος|απρ μαΐου|μάιος"
    "|μαΐ ιουνίου|ιούνιος|ιουν ιουλίου|ιούλιος|ιουλ αυγούστου|αύγουστος|αυγ σεπτεμβρίου|σεπτέμβριος|σεπ"
    " οκτωβρίου|οκτώβριος|οκτ νοεμβρίου|νοέμβριος|νοε δεκεμβρίου|δεκέμβριος|δεκ",
    "en": "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sept|sep october|oct"
    " november|nov december|dec",
    "es": "enero|ene febrero|feb marzo|mar abril|abr mayo junio|jun julio|jul agosto|ago septiembre|setiembre|sept|sep"
    " octubre|oct noviembre|nov diciembre|dic",
    "fr": "janvier|janv février|févr|fév mars avril|avr mai juin juillet|juil août septembre|sept octobre|oct novembre"
    "|nov décembre|déc",
    "hu": "január|jan február|febr március|márc április|ápr május|máj június|jún július|júl augusztus|aug szeptember"
    "|szept október|okt november|nov december|dec",
    "it": "gennaio|gen febbraio|feb marzo|mar aprile|apr maggio|mag giugno|giu luglio|lug agosto|ago settembre|set"
    " ottobre|ott novembre|nov dicembre|dic",
    "kk": "қаңтар|қаңтарда ақпан|ақпанда наурыз|наурызда сәуір|сәуірде мамыр|мамырда маусым|маусымда шілде|шілдеде"
    " тамыз|тамызда қыркүйек|қыркүйекте қазан|қазанда қараша|қарашада желтоқсан|желтоқсанда",
    "nl": "januari|jan februari|feb maart|mrt april|apr mei juni|jun juli|jul augustus|aug september|sep oktober|okt"
    " november|nov december|dec",
    "pl": "stycznia|styczeń lutego|luty marca|marzec kwietnia|kwiecień maja|maj czerwca|czerwiec lipca|lipiec sierpnia"
    "|sierpień września|wrzesień października|październik listopada|listopad grudnia|grudzień",
    "pt": "janeiro|jan fevereiro|fev março|mar abril|abr maio|mai junho|jun julho|jul agosto|ago setembro|set outubro"
    "|out novembro|nov dezembro|dez",
    "ru": "января|январь|янв февраля|февраль|фев марта|март|мар апреля|апрель|апр мая|май июня|июнь июля|июль августа"
    "|август|авг сентября|сентябрь|сент|сен октября|октябрь|окт ноября|ноябрь|ноя декабря|декабрь|дек",
    "tr": "ocak|oca şubat|şub mart|mar nisan|nis mayıs|may haziran|haz temmuz|tem ağustos|ağu eylül|eyl ekim|eki kasım"
    "|kas aralık|ara",
    "uk": "січня|січень лютого|лютий березня|березень квітня|квітень травня|травень червня|червень липня|липень серпня"
    "|серпень вересня|вересень жовтня|жовтень листопада|листопад грудня|грудень",
}  # fmt: skip

MONTHS: Mapping[str, Mapping[str, int]] = {
    lang: {name.replace("_", " "): month for month, names in enumerate(line.split(), 1) for name in names.split("|")}
    for lang, line in _MONTHS.items()
}
"""Names of the months, as dates have them (genitive where the language has one) and short, with their numbers."""

_SCALES = {
    "ar": "ألف=3 آلاف=3 مليون=6 ملايين=6 مليار=9",
    "cs": "tisíc=3 tis=3 milion=6 miliony=6 milionů=6 miliarda=9 miliardy=9 miliard=9 mld=9",
    "de": "tausend=3 tsd=3 million=6 millionen=6 mio=6 milliarde=9 milliarden=9 mrd=9 billion=12 billionen=12",
    "el": "χιλιάδες=3 εκατομμύριο=6 εκατομμύρια=6 εκατ=6 δισεκατομμύριο=9 δισεκατομμύρια=9 δισ=9",
    "en": "thousand=3 million=6 millions=6 mn=6 billion=9 billions=9 bn=9 trillion=12",
    "es": "mil=3 millón=6 millones=6 billón=12 billones=12",
    "fr": "mille=3 million=6 millions=6 milliard=9 milliards=9 mds=9 billion=12 billions=12",
    "hu": "ezer=3 millió=6 milliárd=9",
    "it": "mila=3 milione=6 milioni=6 mln=6 miliardo=9 miliardi=9 mld=9",
    "kk": "мың=3 миллион=6 млн=6 миллиард=9 млрд=9",
    "nl": "duizend=3 miljoen=6 mln=6 miljard=9 mld=9",
    "pl": "tysiąc=3 tysiące=3 tysięcy=3 tys=3 milion=6 miliony=6 milionów=6 mln=6 miliard=9 miliardy=9"
    " miliardów=9 mld=9",
    "pt": "mil=3 milhão=6 milhões=6 bilhão=9 bilhões=9",
    "ru": "тысяча=3 тысячи=3 тысяч=3 тыс=3 миллион=6 миллиона=6 миллионов=6 млн=6 миллиард=9 миллиарда=9 миллиардов=9"
    " млрд=9",
    "tr": "bin=3 milyon=6 milyar=9",
    "uk": "тисяча=3 тисячі=3 тисяч=3 тис=3 мільйон=6 мільйона=6 мільйонів=6 млн=6 мільярд=9 мільярда=9"
    " мільярдів=9 млрд=9",
}

SCALES: Mapping[str, Mapping[str, Decimal]] = {
    lang: {word: Decimal(10) ** int(power) for word, _, power in (item.partition("=") for item in line.split())}
    for lang, line in _SCALES.items()
}
"""Words that multiply the number before them."""

MYRIADS: Mapping[str, Decimal] = {
    sign: Decimal(10) ** power
    for power, signs in {
        3: "千 천", 4: "万 萬 만", 5: "十万 十萬 십만", 6: "百万 百萬 백만", 7: "千万 千萬 천만", 8: "亿 億 억",
        9: "十亿 十億 십억", 10: "百亿 百億 백억", 11: "千亿 千億 천억", 12: "万亿 萬億 兆 조",
    }.items()
    for sign in signs.split()
}  # fmt: skip
"""The same in Chinese, Japanese and Korean, where several follow each other: 3億5,000萬."""

_UNITS = {
    "%": "percent prozent процент процента процентов パーセント 퍼센트",
    "mm": "мм 毫米 公釐 ミリメートル 밀리미터 millimeter millimeters millimetre millimetres millimètre millimètres",
    "cm": "см 厘米 公分 センチメートル 센티미터 centimeter centimeters centimetre centimetres centimètre centimètres",
    "m": "м 米 公尺 メートル 미터 meter meters metre metres mètre mètres metro metros metri метр метра метров",
    "km": "км 公里 千米 キロメートル 킬로미터 kilometer kilometers kilometre kilometres kilomètre kilomètres"
    " quilômetros kilómetros chilometri километр километра километров",
    "kg": "кг 公斤 千克 キログラム 킬로그램 kilogram kilograms kilogramm kilogramme kilogrammes",
    "g": "г 克 グラム 그램 gram grams gramm gramme grammes",
    "kb": "кб kib киб ko kbyte kilobyte kilobytes キロバイト 킬로바이트",
    "mb": "мб mib миб mo mbyte megabyte megabytes メガバイト 메가바이트",
    "gb": "гб gib гиб go gbyte gigabyte gigabytes ギガバイト 기가바이트",
    "tb": "тб tib тиб to terabyte terabytes テラバイト 테라바이트",
    "byte": "bytes octet octets байт байта байтов bajt bajty bajtů bajtów 字节 字節 位元組 バイト 바이트",
    "bit": "bits бит бита битов 位元 ビット 비트",
    "hz": "гц 赫兹 赫茲 ヘルツ 헤르츠",
    "mhz": "мгц 兆赫 メガヘルツ 메가헤르츠",
    "ghz": "ггц 吉赫 ギガヘルツ 기가헤르츠",
    "px": "pixel pixels pixeln píxeles pikseli pikseler пиксел пиксель пикселя пикселей 像素 ピクセル 画素 픽셀",
    "second": "seconds sec sekunde sekunden seconde secondes segundo segundos secondi sekund sekundy секунда"
    " секунды секунд 秒 초",
    "minute": "minutes min minuten minuto minutos minuti minut minuty minuta минута минуты минут 分钟 分鐘 分 분",
    "hour": "hours stunde stunden heure heures hora horas ore godzin godziny hodin hodiny час часа"
    " часов 小时 小時 時間 시간",
    "day": "days tag tage tagen jour jours día días dia dias giorno giorni dni dnů день дня дней 天 日間 일간",
    "°c": "℃ 摄氏度 攝氏度 섭씨",
}  # fmt: skip

UNITS: Mapping[str, str] = {
    spelling: unit for unit, spellings in _UNITS.items() for spelling in (unit, *spellings.split())
}
"""Units as they are written, and the one name of each."""
