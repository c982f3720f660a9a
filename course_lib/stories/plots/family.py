"""What happens at home. Facts at hand: Hero, Kind, Trait, Home; Elder, and Marvel, which the elder's stories are about."""

RULES = {
    "at_home": ["<rescue>", "<night>", "<seed>", "<skill>", "<errand>", "<neighbour>"],
    "rescue": [
        """Walking home from {Place=place}, {Hero} heard a [soft|faint|sad|tiny] {noise}. There, {Nook=Place.nooks}, sat
        {Young=Place.young.a}, all alone and [shivering|cold|hungry]. {Hero} wrapped it in {Hero.her} {Colour=colour}
        {Wrap=wrap} and carried it home. ¶ "[Poor|Brave] little {Young}!" said {Hero.her} {Elder}. "It may stay for
        {Count=number} days." {Hero} [fed it|sang to it|rocked it to sleep] and told it about {Marvel}. ¶ When the
        {Count} days were over, {Hero} brought the {Young} back to {Place}. It [looked round once|blinked|waited a
        moment], and was gone. But whenever {Hero} wore the {Colour} {Wrap}, {Hero.she} [smiled|thought of it]."""
    ],
    "night": [
        """In the middle of the night, {Hero} woke up. [What was|Did you hear] that {Cause=cause.noise} in the
        {Room=room}? "{Fear=fear.A}!" [whispered|thought|gasped] {Hero}, and ran to {Hero.her} {Elder}. ¶ {Hero.Her}
        {Elder} lit {Colour=colour.a} lamp, and on tiptoe they went to the {Room}. There was no {Fear} at all. It was
        [only|just] {Cause.a} {Cause.doing}! ¶ {Hero} [had to laugh|sighed with relief]. "Good night, dear {Cause},"
        {Hero.she} said. [By|In] the light of the {Colour} lamp {Hero.her} {Elder} [told|began] a story about {Marvel},
        and no {Fear} ever came to {Home} again."""
    ],
    "seed": [
        """It was spring, and {Hero.her} {Elder} gave {Hero} a seed. "What will it be?" [asked|wondered] {Hero}. "[Wait
        and see|Time will tell]." {Hero} [planted|put] it in {Colour=colour.a} {Pot=pot}. But for {Count=number} weeks
        [nothing grew|it only slept], and {Hero} was {Sad=sad}. ¶ "[Perhaps|Maybe] it would like a story," said
        {Hero.her} {Elder}. So {Hero} sat down by the {Colour} {Pot} and told the seed about {Marvel}. ¶ The very next
        morning, the [finest|tallest|loveliest|brightest] {Flower=flower} in the world stood there! "You see," said the
        {Trait} little {Kind}, no longer {Sad}, "[my {Flower}|it] likes {Marvel} too.\""""
    ],
    "skill": [
        """More than anything, {Hero} wanted to {Skill=skill}. {Hero.She} tried {Count=number} times, and {Count} times
        [it went wrong|nothing worked]. "I will never {Skill}!" {Hero.she} [cried|sobbed|groaned], and threw {Hero.her}
        {Colour=colour} {Cap=cap} on the floor. ¶ {Hero.Her} {Elder} picked up the {Colour} {Cap}. "When I was little,
        I failed {More:=Count.more}{More} times," {Elder.she} said. "[Then I thought|It helps to think] of {Marvel}." ¶
        So {Hero} thought of {Marvel} and practised until {weekday}. And then {Hero.she} {Skill.ed}! [{Hero.Her}
        {Elder} threw the {Colour} {Cap} into the air.|All of {Home} [cheered|clapped].]"""
    ],
    "errand": [
        """For supper, {Hero.her} {Elder} sent {Hero} to buy {Count=number} {Treat=treat.s}. On the way back through
        {Place=place} {Hero} met {trait.a} {Stranger=stranger}. "I [have not eaten|am so hungry]," said the
        {Stranger}. {Hero} opened {Hero.her} {Colour=colour} {Bag=bag} and gave away one. ¶ "I asked for {Count}, and
        here are only {Left:=Count.less}{Left}," said {Hero.her} {Elder}. So {Hero} told about the {Stranger}
        {Place.at}. ¶ But {Hero.her} {Elder} [was not cross|only smiled]. "[Well done|Quite right|Good for you],"
        {Elder.she} said. "{Left.Plain} are plenty." And because {Hero} was so {Trait}, there was a story about
        {Marvel}."""
    ],
    "neighbour": [
        """Next door, {trait.a} {FriendKind=friendkind} called {Friend=friend} had just moved in. {Friend.She} sat on the
        {Seat=seat} and knew nobody. "{Friend} looks {Sad=sad}," said {Hero.her} {Elder}. ¶ So {Hero} [took|fetched]
        {Hero.her} {Colour=colour} {Thing=thing} and went out. "Would you like to {Thing.use}?" {Friend} nodded. Then
        they played {Game=game} until [supper|dark|bedtime]. [{Hero.Her} {Elder} brought them {supper}.|Not once did
        {Friend} look {Sad}.] ¶ "May we play {Game} tomorrow?" asked {Friend}. "[Every day|Of course]," said {Hero},
        "and you may keep the {Colour} {Thing}." Now two friends sit on the {Seat}, talking about {Marvel}."""
    ],
}
