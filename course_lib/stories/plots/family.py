"""What happens at home. Facts at hand: Hero, Kind, Trait, Home; Elder, and Marvel, which the elder's stories are about."""

RULES = {
    "at_home": ["<rescue>", "<night>", "<seed>", "<skill>", "<errand>", "<neighbour>"],
    "rescue": [
        """Walking home from {Place=place}, {Hero} heard a [soft|faint|sad|tiny] {noise}. There, {Nook=Place.nooks}, sat
        {Young=Place.young.a}, all alone and shivering. {Hero} wrapped it in {Hero.her} {Colour=colour} {Wrap=wrap} and
        carried it home. ¶ "Poor little {Young}!" said {Hero.her} {Elder}. "It may stay for {Count=number} days, until it
        is strong." {Hero} fed it and told it about {Marvel}. ¶ When the {Count} days were over, {Hero} brought the
        {Young} back to {Place}. It [looked round once|blinked|waited a moment], and then it was gone. But whenever
        {Hero} wore the {Colour} {Wrap}, {Hero.she} thought of the {Young}, and smiled."""
    ],
    "night": [
        """In the middle of the night, {Hero} woke up. What was that {Cause=cause.noise} in the {Room=room}? "It is
        {Fear=fear.a}!" thought {Hero}, and ran to {Hero.her} {Elder}. ¶ The {Elder} lit {Colour=colour.a} lamp and took
        {Hero.him} by the hand. On tiptoe they went to the {Room}. {Elder.She} [lifted|raised] the {Colour} lamp. There
        was no {Fear} at all. It was only {Cause.a} {Cause.doing}! ¶ {Hero} had to laugh. "Good night, dear
        {Cause}," {Hero.she} said. Then {Hero.her} {Elder} told one more story about {Marvel}, and after that there was
        no {Fear} left in the whole of {Home}."""
    ],
    "seed": [
        """It was spring, and the {Elder} gave {Hero} a seed. "What will it be?" asked {Hero}. "Wait and see," said the
        {Elder}. {Hero} planted it in {Colour=colour.a} {Pot=pot} and watered it every day. But for {Count=number} weeks
        nothing grew, and {Hero} felt {Sad=sad}. ¶ "Perhaps it would like a story," said the {Elder}. So {Hero} sat down
        by the {Colour} {Pot} and told the seed everything about {Marvel}. ¶ The very next morning, there stood the
        [finest|tallest|loveliest|brightest] {Flower=flower} in all of {town}! "You see," said the {Trait} little {Kind},
        no longer {Sad}, "my {Flower} likes {Marvel} too.\""""
    ],
    "skill": [
        """More than anything, {Hero} wanted to {Skill=skill}. On Monday, {Hero.she} tried {Count=number} times, and
        {Count} times it went wrong. "I will never {Skill}!" {Hero.she} [cried|sobbed|groaned], and threw {Hero.her}
        {Colour=colour} {Cap=cap} on the floor. ¶ {Hero.Her} {Elder} picked up the {Colour} {Cap}. "When I was little, I
        failed {More:=Count.more}{More} times," said the {Elder}. "Then I thought of {Marvel}, and it worked." ¶ So
        {Hero} thought of {Marvel} and practised until {weekday}. And then {Hero.she} {Skill.ed}! [The {Elder} threw the
        {Colour} {Cap} into the air.|Everyone in {Home} clapped.]"""
    ],
    "errand": [
        """For supper, the {Elder} sent {Hero} to buy {Count=number} {Treat=treat.s}. {Hero} came back through
        {Place=place} with {Colour=colour.a} {Bag=bag}. <scene> There sat {oddity.a} {Stranger=stranger}. "I have
        not eaten all day," said the {Stranger}. {Hero} opened the {Colour} {Bag} and gave the {Stranger} one.
        ¶ "I asked for {Count} {Treat.s}, and here are only {Left:=Count.less}{Left}," said the {Elder}. So {Hero} told
        about the {Stranger} {Place.at}. ¶ The {Elder} was not cross at all. "[Well done|Quite right|Good for you],"
        {Elder.she} said, "{Left} {Treat.s} are plenty." And because {Hero} had been so {Trait}, there was a story about
        {Marvel}."""
    ],
    "neighbour": [
        """Next door, {oddity.a} {FriendKind=friendkind} called {Friend=friend} had just moved in. {Friend.She} sat on
        the {Seat=seat} and knew nobody. "{Friend} looks {Sad=sad}," said the {Elder}. ¶ So {Hero} took {Hero.her}
        {Colour=colour} {Thing=thing} and went out. "Would you like to {Thing.use}?" {Hero.she} asked. {Friend}
        nodded. Then they played {Game=game} until it was dark. [The {Elder} brought them {supper}.|Not once did
        {Friend} look {Sad}.] ¶ "May we play {Game} tomorrow?" asked {Friend}. "Every day," said {Hero}. "And you may
        keep the {Colour} {Thing}." Now there are two on the {Seat}, talking about {Marvel}."""
    ],
}
