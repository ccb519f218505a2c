"""English words by what they do in a question. What is in none of these lists is taken for a word of the subject."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = {
    **dict.fromkeys(("it", "itself"), "it"),
    **dict.fromkeys(("they", "them", "themselves"), "they"),
    **dict.fromkeys(("he", "him", "himself", "she", "herself"), "person"),
}
"""What stands for a subject, and for what kind of one (`leaning.Kind`)."""
POSSESSIVE = _words("hers his its their theirs")
DEMONSTRATIVE = _words("that these this those")
ASKING = _words("how what when where which who whom whose why")
AUXILIARY = _words(
    """
    am are aren't be been being can can't cannot could couldn't did didn't do does doesn't don't had has hasn't
    have haven't having he's how's i'm is isn't it'll it's may might must shall she's should shouldn't that's
    there's they're they've was wasn't were weren't what's when's where's who's why's will won't would wouldn't
    """
)
PREPOSITIONS = _words(
    """
    about above across after against along among around as at before behind below besides between beyond by down
    during except for from in inside into like near of off on onto out outside over per since than through
    throughout to toward towards under until up upon versus via vs with within without
    """
)
MODIFYING = _words("about against at behind between by during for from in of on that to when where which who whom with")
"""What goes on to say which one is meant: `the surface of the moon`."""
UNIQUE = _words("earth future internet law moon past sun universe web world")
"""What needs no saying which."""
CHATTER = _words("ah good great hello hey hi interesting no oh ok okay right sorry sure thank thanks wow yeah yes")
_OTHERS = _words(
    """
    a again all also although an and another any anything both but each either else even ever every few first
    former further get got her here him however i i'd i'll i've if instead just last latter least less let let's
    lot many me mine more most much my myself neither never no non none nor not nothing now one ones only or
    other others our ours own please quite rather really same several she so some someone something still such
    the then there therefore though too two us very we well whether while yet you you'd you'll your yours
    """
)
FUNCTION_WORDS = PRONOUNS.keys() | POSSESSIVE | DEMONSTRATIVE | ASKING | AUXILIARY | PREPOSITIONS | _OTHERS

_SHARED = _words("a am an as at do does for had has i in me my no on or so us was we well will")
ENGLISH = (FUNCTION_WORDS | {"describe", "explain", "give", "list", "show", "tell"}) - _SHARED
"""Words by which a question is known for English: without those that other languages write too."""
FOREIGN = _words(
    """
    aber al als auch auf aus avec beim bij ce ces che comment con dans das de del dem den der des dla du een ein
    eine einem einen einer el en entre es est esta et eu für gibt gli haben het ich ihr il ist jak je jest
    kann kein keine kosten la las le les los mai mais mein meine met mit mon nach nein nel nicht nie oder om
    para pas per pero por pour qual quali quanto que quel quelle quels qui quien sich sie sind sono sont sur um
    un una und une van vom von voor wann warum wat welche welcher welches wenn wer wie wieviel wij wird wo y zu
    zum zur à über
    """
)
"""Words of other languages that English has not."""

VERBS = _words(
    """
    affect affects allow appear applies apply ask avoid became become began begin believe born bring broken
    build buy call came cause causes celebrate change choose chosen come comes compare compares compete consider
    contains continue contribute cook cost costs create cure cut decide define describe detect determine develop
    die differ differs discover discuss driven drunk eat eaten established exist expect explain feel file find
    fix fly follow founded gave get gets give given gives go goes govern grow grown happen happens hear
    help helps hidden hold impact improve include includes increase influence invent invented involve keep keeps
    kept kill know known knows leads learn learned leave left live lived lives look looks lose lost love made
    make makes mean means meant meet meets move moved need needs occur occurs offers open owed own pay pays
    perform play played plays prevent produce protect prove provide provides put reach read receive recommend
    reduce relate related relieve remain remains remember remove require requires resolve run runs said save say
    see seem seems sell send set share show shows sleep solve sounds speak spend spoken spread start started
    starts stay stays stop stops succeed suffer suggest support supports take taken takes talk taught teach tell
    think thinks told took treat treats try turn understand use used uses using visit want wants watch wear
    weigh went win won wonder work worked works write writes written wrote
    """
)
"""What comes between a subject and what is asked of it. `cost` and `need` are nouns too; a name is never split."""
GENERAL = _words(
    """
    address advantage age aim alternative amount answer approach area argument aspect author availability
    available award bad basis beginning benefit best better big bigger biggest book capacity career case cause
    challenge chance character characteristic charge cheap cheaper child childhood choice close coach common
    company complication component con concept concern conclusion condition consequence contact contribution
    cost country coverage criteria criticism culture curable current daily danger dangerous date day deadline
    death definition description detail development difference different difficult disadvantage discovery
    document documentation drawback duration early easily easy education effect effective effectiveness element
    eligible email environment event exact example exception expense expensive experience expert explanation
    fact factor famous fast favorite feature fee fine form free frequency full function future general goal
    group hard harmful health healthy high higher history hour husband idea impact implication importance
    important influence info information instance instruction interesting invention issue item key kid kind
    language large largest late later law leader legal length level life lifespan limit limitation link list
    local location long long-term longer main major mandatory matter maximum meaning measure meeting member
    method minimum model modern money month name natural negative new newest next nice normal notable number old
    option order origin original outcome overview paid parent part particular past penalty people period
    permanent person phase phone photo picture place plot point policy popular population positive possibility
    possible potential practical practice price primary principle pro problem procedure process product property
    provider purpose quality question quick rate reason recent recommendation record regular relation
    relationship requirement research resource result risk role rule safe scientific season secondary section
    serious service setting shape short short-term side sign significance significant similar similarity simple
    site situation size slow small solution sort source special specific stage start state statistic status step
    step-by-step story strategy strength structure study style success successful symptom system task team
    technique term test theme theory thing time timing tip today tool topic total traditional treatable
    treatment trend true type typical unique unit usage use useful usual value variant variation variety various
    version view warning way weakness website week weight whole wife wrong year young
    """
)
"""Words for properties: they say what is asked, of nothing in particular. In the singular; see `is_general`."""

_PROPERTIES = GENERAL | VERBS | CHATTER


def is_general(word: str) -> bool:
    """Whether a word, in small letters, names no subject of its own."""
    forms = {word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ly")}
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    return not forms.isdisjoint(_PROPERTIES)
