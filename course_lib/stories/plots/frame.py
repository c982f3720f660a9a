"""How a story begins, who is in it, and the sentences that several plots share."""

RULES = {
    "story": ["<opening> [<friend> ¶ <with_friend>|<family> ¶ <at_home>]"],
    "opening": [
        "Once upon a time there was {Trait=trait.a} little {Kind=kind} named {Hero=Kind.names}, who lived in {Home=home}.",
        "{Hero=hero} was {Trait=trait.a} little {Kind=Hero.kinds} who lived in {Home=home}.",
        "In {Home=home} lived {Trait=trait.a} little {Kind=kind} called {Hero=Kind.names}.",
        "Long ago, {Trait=trait.a} little {Kind=kind} called {Hero=Kind.names} lived in {Home=home}, not far from {town}.",
        "Everybody in {town} knew {Hero=hero}, the {Trait=trait} little {Kind=Hero.kinds} from {Home=home}.",
        "This is the story of {Hero=hero}, {Trait=trait.a} little {Kind=Hero.kinds} who lived in {Home=home}.",
    ],
    "friend": [
        "{Hero.Her} best friend was {oddity.a} {FriendKind=friendkind} called {Friend=friend}, who loved to {Hobby=hobby}.",
        "Next door lived {Friend=friend}, {oddity.a} {FriendKind=friendkind} who never stopped {Hobby=hobby.ing}.",
        """Every day {Hero.she} played {game} with {Friend=friend}, {oddity.a} {FriendKind=friendkind} who liked to
        {Hobby=hobby}.""",
    ],
    "family": [
        "{Hero.Her} {Elder=relative} was {job.a} who told wonderful stories about {Marvel=marvel}.",
        "There was nothing {Hero.she} liked more than {Marvel=marvel}, and {Hero.her} {Elder=relative}, {job.a}, told stories about them.",
    ],
    "scene": [
        "{=Place.sights}.",
        "Somewhere {bird.a} was singing.",
        "High above, a cloud [shaped|that looked] like {shape.a} drifted by.",
    ],
    "good_night": [
        "That night {Hero.she} dreamed of {marvel}.",
        "In the evening they had {supper} for supper.",
        "And they were as happy as {lark}.",
    ],
    "good_night_at_home": [
        "That night {Hero.she} dreamed of {Marvel}.",
        "Then they had {supper} for supper.",
        "Soon {Hero.she} was as happy as {lark}.",
    ],
}
