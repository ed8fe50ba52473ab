// What an onlooker sees of a game, as the engine tells it. A test holds real views against this.

declare namespace Views {
  type Variant = "keltis" | "neue-wege" | "kartenspiel" | "weg-der-steine";
  type Colour = "R" | "Y" | "V" | "G" | "B";
  type Letter = Colour | "P"; // P: cards and rows of points, which have no colour
  type Rows = Record<Colour, string[]>;
  type Gift = "wish" | "clover" | "1" | "3";

  interface Hand {
    cards: string[] | null; // null: hidden
    size: number;
    known: string[];
  }

  interface Pile {
    size: number;
    streams: number[];
    cards: string[][] | null;
  }

  interface Removed {
    size: number;
    cards: string[] | null;
  }

  interface Figures {
    big: string;
    small: string[];
  }

  interface Common {
    variant: Variant;
    version: number;
    options: Record<string, number>;
    players: number;
    viewer: number | "spectators" | "post-game";
    seat: number;
    phase: Phase;
    turn: number;
    ending: Ending | null;
    scores: number[];
    rows: Rows[];
    pile: Pile;
  }

  type Phase = "turn" | "figure" | "move" | "clover" | "drop" | "draw" | "final" | "revealed" | "last-turn" | "over";
  type Ending = "figures" | "end cards" | "last card" | "last tile" | "turn limit";

  interface WithCards extends Common {
    hands: Hand[];
    closed: Letter[];
    removed: Removed;
  }

  interface OnBoard extends WithCards {
    piles: Record<Colour, string[]>;
    tiles: Record<string, string>;
    figures: Figures[];
    in_goal: number;
    entering: string | null;
    points: number[];
  }

  interface Keltis extends OnBoard {
    variant: "keltis";
    wish_stones: number[];
  }

  interface NeueWege extends OnBoard {
    variant: "neue-wege";
    stacks: Record<string, number>;
    laid: string | null;
    draws: number;
    wish_stones: Record<Colour, number>[];
  }

  interface Kartenspiel extends WithCards {
    variant: "kartenspiel";
    piles: Record<Letter, string[]>;
    points_rows: string[][];
    wish_row: number[];
    wish_stones: number[][];
    ended_rows: number;
    ended_by: number | null;
    draws: number;
    final_cards: number;
  }

  interface WegDerSteine extends Common {
    variant: "weg-der-steine";
    middle: string[];
    revealed: string | null;
    bonus: number[];
    wish_stones: number[];
  }

  type Each = Keltis | NeueWege | Kartenspiel | WegDerSteine;
  type Fields<Of> = Of extends unknown ? keyof Of : never;
  type Open<Of, All = Of> = Of extends unknown ? Of & { [Field in Exclude<Fields<All>, keyof Of>]?: undefined } : never;

  /** A view of any game: what belongs to another game may be asked for, and is not there. */
  type View = Open<Each>;
}
