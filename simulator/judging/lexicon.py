"""English words that the rules judges know: data only. Counterpart: `simulator.judging.wording`."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> dict[str, str]:
    return dict(p.split(":") for p in text.split())


UNITS = {
    w: n
    for n, w in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
TENS = {
    w: 10 * (n + 2)
    for n, w in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"))
} | {"fourty": 40}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
COUNTS = {"single": 1, "couple": 2, "both": 2, "dozen": 12, "none": 0, "nought": 0}
"""Words that say a number in other ways."""
ORDINALS = {
    w: n + 1
    for n, w in enumerate(
        _words(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
        )
    )
} | {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}
TWO_PIECE = frozenset(
    _words(
        "scissor scissors glasses trousers pants jeans shorts pliers tweezers tongs headphones "
        "binoculars tights leggings"
    )
)
"""A pair of these is one thing."""

CONTRACTED = _pairs(
    "cannot:can_not can't:can_not cant:can_not won't:will_not wont:will_not shan't:shall_not "
    "ain't:is_not isnt:is_not arent:are_not wasnt:was_not werent:were_not dont:do_not "
    "doesnt:does_not didnt:did_not hasnt:has_not havent:have_not couldnt:could_not "
    "wouldnt:would_not shouldnt:should_not let's:let_us lets:let_us gonna:going_to "
    "wanna:want_to gotta:got_to y'all:you_all o'clock:oclock im:i_am ive:i_have"
)

STOP = frozenset(
    _words(
        "a an the this that these those there here it its he she they them his her their theirs "
        "him we us our ours you your yours i me my mine myself itself themselves who whom whose "
        "which "
        "what where when why how is are was were be been being am do does did doing done have has "
        "had having will would shall should can could may might must ought let lets of to at "
        "by for with as from into onto in on and or but so if then than too also very just "
        "really quite "
        "rather now still already yet ever please well okay ok sure oh ah um uh hmm hello hi hey "
        "thanks thank all some any each every such own same about around roughly "
        "approximately exactly precisely currently basically actually probably maybe perhaps "
        "possibly likely think believe guess say said see look looks like seem seems appear "
        "appears get got gets go going goes went come comes came thing things kind sort bit lot "
        "much many "
        "again while because since during within total altogether only even"
    )
)
"""Words that carry no point of their own (they count where an alternative has nothing else)."""

ARTICLES = frozenset({"a", "an", "the"})

NEGATORS = frozenset(
    _words(
        "not never nor neither nobody nothing nowhere none without hardly barely scarcely except "
        "excluding cannot"
    )
)
BORDER_WORDS = frozenset(
    _words("and but while whereas although though however because so yet then which who instead")
)
CONTRAST = frozenset({"but", "while", "whereas", "although", "though", "however"})
CONDITIONS = frozenset({"if", "whether", "unless", "until", "till"})
TIME_CONDITIONS = frozenset({"when", "once", "after", "whenever"})
FUTURE = frozenset({"will", "shall", "would", "going", "let", "wait", "waiting", "watch", "ready"})
QUESTION_HEADS = frozenset(
    _words(
        "is are was were am do does did can could would will shall should may might have has had "
        "what which where when who whom whose how why"
    )
)
CORRECTIONS = frozenset(
    _words("wait actually sorry correction scratch rather oops whoops mistake apologies mean")
)
MAYBE = frozenset({"or", "maybe", "perhaps", "possibly", "either", "alternatively"})
PAST = frozenset(
    _words("was were had before earlier originally initially previously used started began")
)
PRESENT = frozenset({"now", "currently", "left", "remain", "remaining", "remains", "still"})
LABELS = frozenset(
    _words(
        "step number page turn option figure version level line row item part section chapter "
        "slide channel question room floor"
    )
)
"""A number after one of these is a name, not a count."""
APPROXIMATE = {
    "more than": "more than",
    "less than": "less than",
    "fewer than": "fewer than",
    "greater than": "more than",
    "at least": "at least",
    "at most": "at most",
    "up to": "up to",
    "over": "over",
    "under": "under",
    "almost": "almost",
    "nearly": "nearly",
}

RIVALS: tuple[tuple[str, ...], ...] = (
    ("left", "right", "middle"),
    ("left", "right", "centre"),
    ("leftmost", "rightmost"),
    ("up", "down"),
    ("upper", "lower"),
    ("top", "bottom", "middle"),
    ("above", "below"),
    ("above", "under"),
    ("over", "under"),
    ("before", "after"),
    ("on", "off"),
    ("open", "closed"),
    ("open", "shut"),
    ("opening", "closing"),
    ("in", "out"),
    ("inside", "outside"),
    ("front", "behind"),
    ("front", "back"),
    ("back", "gone"),
    ("back", "missing"),
    ("back", "away"),
    ("back", "forward"),
    ("present", "missing"),
    ("present", "absent"),
    ("appear", "disappear"),
    ("first", "last"),
    ("big", "small"),
    ("large", "small"),
    ("bigger", "smaller"),
    ("larger", "smaller"),
    ("biggest", "smallest"),
    ("hot", "cold"),
    ("warm", "cold"),
    ("full", "empty"),
    ("more", "less"),
    ("more", "fewer"),
    ("high", "low"),
    ("higher", "lower"),
    ("long", "short"),
    ("longer", "shorter"),
    ("tall", "short"),
    ("fast", "slow"),
    ("faster", "slower"),
    ("early", "late"),
    ("increase", "decrease"),
    ("add", "remove"),
    ("push", "pull"),
    ("lock", "unlock"),
    ("start", "stop"),
    ("begin", "end"),
    ("clean", "dirty"),
    ("wet", "dry"),
    ("same", "different"),
    ("true", "false"),
    ("yes", "no"),
    ("correct", "wrong"),
    ("correct", "incorrect"),
    ("clockwise", "counterclockwise"),
    ("win", "lose"),
    ("man", "woman"),
    ("boy", "girl"),
    ("male", "female"),
    ("day", "night"),
    ("morning", "afternoon", "evening", "night"),
    ("hard", "soft"),
    ("thick", "thin"),
    ("new", "old"),
    ("near", "far"),
    ("horizontal", "vertical"),
    ("safe", "unsafe"),
    ("safe", "dangerous"),
    ("alive", "dead"),
    ("arrive", "leave"),
    ("enter", "leave"),
    ("enter", "exit"),
    ("raise", "lower"),
    ("lift", "lower"),
    ("connect", "disconnect"),
    ("plug", "unplug"),
    ("always", "never"),
    ("left", "rightward"),
    ("north", "south", "east", "west"),
    tuple(
        _words(
            "red blue green yellow orange purple violet pink brown black white grey cyan magenta "
            "beige turquoise"
        )
    ),
    (_words("monday tuesday wednesday thursday friday saturday sunday")),
    tuple(
        _words("january february march april june july august september october november december")
    ),
    (_words("circle square triangle rectangle pentagon hexagon")),
)
"""Groups of words of which only one can be true of one thing."""

EXCLUSIVE_WITH_AND = frozenset(
    _words(
        "left right middle up down top bottom above below before after on off open closed in out "
        "inside outside yes no first last full empty back gone missing"
    )
)
"""Rivals that contradict each other even when joined by `and`."""

SAME_WORD = _pairs(
    "yeah:yes yep:yes yup:yes yea:yes nope:no nah:no anticlockwise:counterclockwise "
    "television:tv mum:mom centre:center centred:center centring:center centering:center "
    "centres:center "
    "fridge:refrigerator shut:close closed:close "
    "aeroplane:airplane till:until onto:on beneath:under underneath:under everybody:everyone "
    "gray:grey blonde:blond cheque:check programme:program plough:plow jewellery:jewelry "
    "aluminium:aluminum tyre:tire mould:mold yoghurt:yogurt catalogue:catalog dialogue:dialog "
    "analogue:analog kerb:curb storey:story sceptical:skeptical defence:defense "
    "licence:license practise:practice pyjamas:pajama moustache:mustache doughnut:donut "
    "metre:meter litre:liter theatre:theater fibre:fiber litres:liter metres:meter "
    "centimetre:centimeter millimetre:millimeter kilometre:kilometer colour:color "
    "flavour:flavor favourite:favorite favour:favor neighbour:neighbor harbour:harbor "
    "labour:labor humour:humor honour:honor behaviour:behavior armour:armor odour:odor "
    "rumour:rumor vapour:vapor parlour:parlor tumour:tumor vigour:vigor savoury:savory "
    "kilo:kilogram kg:kilogram cm:centimeter mm:millimeter km:kilometer ml:milliliter "
    "millilitre:milliliter mins:minute min:minute secs:second sec:second hrs:hour hr:hour "
    "gram:gram grams:gram grammes:gram oclock:oclock"
)

IRREGULAR = _pairs(
    "men:man women:woman children:child people:person feet:foot teeth:tooth mice:mouse "
    "geese:goose knives:knife lives:life leaves:leaf halves:half shelves:shelf loaves:loaf "
    "wolves:wolf wives:wife scarves:scarf took:take taken:take taking:take gave:give given:give "
    "giving:give fell:fall fallen:fall broke:break broken:break brought:bring bought:buy "
    "caught:catch cutting:cut putting:put held:hold kept:keep laid:lay lain:lie lying:lie "
    "lost:lose losing:lose made:make making:make met:meet moved:move paid:pay ran:run "
    "running:run rose:rise risen:rise rising:rise sat:sit sitting:sit saw:see seen:see "
    "sent:send set:set setting:set shook:shake shaken:shake showed:show shown:show slid:slide "
    "sliding:slide spoke:speak spoken:speak stood:stand swam:swim threw:throw thrown:throw "
    "told:tell thought:think turned:turn typed:type typing:type wore:wear worn:wear won:win "
    "winning:win wrote:write written:write writing:write drew:draw drawn:draw drank:drink "
    "drunk:drink drove:drive driven:drive driving:drive ate:eat eaten:eat flew:fly flown:fly "
    "forgot:forget forgotten:forget grew:grow grown:grow hid:hide hidden:hide hiding:hide "
    "hung:hang knew:know known:know led:lead began:begin begun:begin blew:blow blown:blow "
    "built:build chose:choose chosen:choose choosing:choose came:come dug:dig felt:feel "
    "fought:fight found:find froze:freeze frozen:freeze got:get gotten:get went:go gone:gone "
    "heard:hear rang:ring rung:ring sang:sing sung:sing sank:sink sunk:sink shot:shoot "
    "slept:sleep stole:steal stolen:steal stuck:stick struck:strike swung:swing taught:teach "
    "tore:tear torn:tear understood:understand woke:wake woken:wake using:use used:use "
    "missing:missing being:be having:have closing:close dying:die tying:tie die:die dice:die "
    "worse:bad worst:bad better:better best:best mixed:mix mixing:mix clothes:clothes "
    "dishes:dish glasses:glass glass:glass species:species series:series news:news bus:bus "
    "buses:bus gas:gas lens:lens lenses:lens always:always plus:plus minus:minus "
    "during:during nothing:nothing something:something anything:anything everything:everything "
    "morning:morning evening:evening ceiling:ceiling building:building during:during "
    "hundred:hundred need:need seed:seed feed:feed bed:bed red:red shed:shed speed:speed "
    "bleed:bleed indeed:indeed opening:open opened:open"
)
