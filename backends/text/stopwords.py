"""Words that hold sentences together and say little of what is asked for.

They weigh less, they are never dropped: `the who` still finds The Who. Rare words
decide by their rarity in any language; these lists only help where the notes are
too few to tell. Sources: the Snowball project's stop word lists, cut to the words
that questions are made of.
"""

_ENGLISH = """
a about am an and any are as at be been before being but by can could did do does doing
for from had has have having he her hers him his how i if in into is it its me my of on
or our ours she should so some than that the their theirs them then there these they this
those to too us was we were what when where which who whom whose why will with would you
your yours s t re ve ll d m don didn doesn isn wasn weren aren haven hasn hadn wouldn
couldn shouldn won
"""
_GERMAN = """
aber als am an auch auf aus bei bin bis das dass dem den der des die doch du ein eine einem
einen einer eines er es für fur habe haben hat hatte ich ihr im in ist ja kann man mein mit
nach nicht noch nun nur ob oder sein sich sie sind so uber über um und uns unser von vor
wann war waren warum was weil welche welcher welches wenn wer werden wie wir wird wo wurde
zu zum zur
"""
_FRENCH = """
au aux avec ce ces cette comment dans de des du elle elles en est et il ils je la le les leur
lui ma mais mes mon nous on ou où par pas pour pourquoi qu quand que quel quelle qui quoi
sa se ses son sont sur ta te tes ton tu un une vos votre vous était etait ont
"""
_SPANISH_PORTUGUESE = """
al como con cual cuando de del donde dónde el ella en era es esta este fue ha hay la las lo
los mas mi muy no nos o para pero por porque que qué quien quién se si sin sobre su sus un
una y ya yo em do da dos das no na nos nas um uma com não nao quem onde os as foi são sao ao
"""
_ITALIAN_DUTCH_NORDIC = """
che chi come con cosa da dei del della di dove e gli ha ho il io la le lo mi nel non per più
quale quando sono un una het een de en van ik je hij zij wij wat wie waar wanneer hoe
waarom niet met voor op te zijn was og er det den de en et at som på pa med til af for ikke
har var vi jeg du han hun hvad hvem hvor hvornår hvordan och att som för är den ett vad
"""


def _fillers() -> frozenset[str]:
    from notewell.backends.text.folding import fold

    lists = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH_PORTUGUESE, _ITALIAN_DUTCH_NORDIC)
    return frozenset(fold(" ".join(lists)).split())


_FILLERS = _fillers()


def is_filler(word: str) -> bool:
    """Say whether a folded word holds sentences together in one of the languages.

    >>> is_filler("the"), is_filler("gateway")
    (True, False)
    """
    return word in _FILLERS
