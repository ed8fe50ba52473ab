// What a language has to say about boards, and about decisions.

declare namespace Words {
  interface Boards {
    colours: Record<Views.Letter, string>;
    titles: Record<Views.Variant, string>;
    seat(seat: number): string;
    start: string;
    goal: string;
    draw: string;
    faceDown: string;
    closed: string;
    hand: string;
    removed(count: number): string;
    cards(count: number): string;
    wishStones(count: number): string;
    tilePoints(count: number): string;
    bonus(count: number): string;
    points(count: number): string;
    pointsRow: string;
    row(colour: string): string;
    piles: string;
    players: string;
    turn(number: number): string;
    over: string;
    toDecide(name: string, doing: string): string;
    phases: Record<Exclude<Views.Phase, "over"> | "reveal", string>;
    figuresAt(name: string, places: string): string;
    bigAt(place: string): string;
    smallAt(place: string): string;
    atStart(count: number): string;
    stone(colour: string, stone: string): string;
    inGoal(count: number, of: number): string;
    middle(tiles: string): string;
    revealed(tile: string): string;
    left(count: number): string;
    leftTiles(count: number): string;
    discards(tops: string): string;
    openStones(stones: string): string;
    rowsOf(name: string, rows: string): string;
  }

  interface Narrator {
    between(isFigure: boolean): string;
    and: string;
    way(from: string | null, to: string): string;
    lay(card: string, letter: Views.Letter, cards: string): string;
    add(card: string, letter: Views.Letter, cards: string): string;
    discard(card: string): string;
    pair(first: string, second: string, stone: string): string;
    draw(card: string | null): string;
    takeCard(card: string, letter: Views.Letter): string;
    takeTile(tile: string, letter: Views.Colour, cards: string, sign: string, isAgain: boolean): string;
    reveal(tile: string): string;
    keep(tile: string, letter: Views.Colour, cards: string, sign: string, isAgain: boolean): string;
    leave(tile: string): string;
    dropNothing: string;
    dropHand(card: string): string;
    dropRow(card: string, letter: Views.Colour): string;
    stay: string;
    addNone: string;
    addNoMore: string;
    pass: string;
    stone(letter: Views.Colour, number: string): string;
    /** `inGoal` is how many figures are in the goal area, if this one has just come there; else 0. */
    step(isBig: boolean, isNew: boolean, field: string, inGoal: number, of: number): string;
    scores(points: number): string;
    takesWish(letter: Views.Colour | null): string;
    findsClover: string;
    over: string;
    ends(why: string): string;
    nearsEnd(why: string): string;
    endings: Record<Views.Ending, string>;
  }
}
