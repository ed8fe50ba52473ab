// What the modules that draw games share.

declare namespace Drawing {
  type Attributes = Record<string, string | number | boolean | null | undefined>;

  interface Place {
    x: number;
    y: number;
  }

  interface Size {
    width: number;
    height: number;
  }

  interface Box extends Place, Size {}

  /** A piece of a layer; boards/svg.js says what each part of it means. */
  interface Piece extends Place {
    key: string;
    look: string;
    field?: string;
    enter?: Place;
    draw(): SVGElement;
  }

  /** A stone of a board, with its symbol. */
  interface Stone extends Box {
    letter: Views.Colour | "*"; // of its colour; * is a joker
    kind: "light" | "dark" | "end";
  }

  /** How large a board is drawn: for a page of its own, for a phone, for a wall of boards. */
  type Form = "large" | "narrow" | "small";

  /** The measures of a board with figures. */
  interface Measures {
    left: number;
    top: number;
    column: number;
    row: number;
    right: number;
    stone: Size;
    end: Size;
    tile: number;
    figure: number;
    value: number;
    start: number;
    word: number;
    edge: number;
  }

  /** What does not change during a game: boards/data.js, which is written from the engine. */
  interface Data {
    paths: { stones: number; values: number[]; goal: number[]; tiles: string[] };
    network: { columns: number; fields: Field[]; edges: [string, string][] };
    symbols: { [tile: string]: Views.Gift | undefined };
    goalFigures: number;
    rowScores: number[];
  }

  interface Field {
    name: string;
    row: number;
    x: number; // in columns
    colour: Views.Colour | "*";
    value: number;
    goal: boolean;
    tile: boolean;
    stack: boolean;
  }

  interface Wanted {
    players: number;
    names: string[];
    form: Form;
    words: Words.Boards;
  }

  interface How<View> {
    moving: boolean;
    previous: View | null; // before the last decision
  }

  /** The drawing of one game. */
  interface Table {
    element: HTMLElement;
    show(view: Views.View, how: How<Views.View>): void;
  }

  /** As `Table`, for those who watch. */
  interface Shown {
    animate?: boolean;
    previous?: Views.View | null | undefined;
  }
}
