"""How a story begins, who is in it, and the sentences that several plots share."""

RULES = {
    "story": ["<opening> [<friend> ¶ <with_friend>|<family> ¶ <at_home>]"],
    "opening": [
        "Once upon a time there was {Trait=trait.a} little {Kind=kind} named {Hero=Kind.names}, who lived in {Home=home}.",
        "{Hero=hero} was {Trait=trait.a} little {Kind=Hero.kinds} who lived in {Home=home}.",
        "In {Home=home} lived {Trait=trait.a} little {Kind=kind} called {Hero=Kind.names}.",
        "Long ago, {Trait=trait.a} little {Kind=kind} called {Hero=Kind.names} lived in {Home=home}.",
        "Everybody in {town} knew {Hero=hero}, the {Trait=trait} little {Kind=Hero.kinds} from {Home=home}.",
        "Near {town}, in {Home=home}, lived {Trait=trait.a} little {Kind=kind} called {Hero=Kind.names}.",
        "Do you know {Hero=hero}, the {Trait=trait} little {Kind=Hero.kinds} from {Home=home}?",
        "This is the story of {Hero=hero}, {Trait=trait.a} little {Kind=Hero.kinds} from {Home=home}.",
    ],
    "friend": [
        "{Hero.Her} best friend was {Friend=friend}, {trait.a} {FriendKind=friendkind} who [loved|liked] to {Hobby=hobby}.",
        "Next door lived {Friend=friend}, {trait.a} {FriendKind=friendkind} who never stopped {Hobby=hobby.ing}.",
        "Every day {Hero.she} played {game} with {Friend=friend}, {FriendKind=friendkind.a} who loved to {Hobby=hobby}.",
    ],
    "family": [
        "Nobody told better stories about {Marvel=marvel} than {Hero.her} {Elder=relative}, {job.a}.",
        "Nothing pleased {Hero.him} more than {Hero.her} {Elder=relative}'s stories about {Marvel=marvel}.",
        "With {Hero.him} lived {Hero.her} {Elder=relative}, {job.a} who [told stories|knew everything] about {Marvel=marvel}.",
    ],
    "scene": [
        "{=Place.sights}.",
        "Somewhere {bird.a} was singing.",
        "High above sailed a cloud like {shape.a}.",
    ],
    "good_night": [
        "That night, in {Home}, {Hero} dreamed of {marvel}.",
        "For supper they had {supper}.",
        "And they were as happy as {lark}.",
    ],
}
