// What the parts of the viewer share.

declare namespace Viewing {
  /** A match, as far as the viewer reads it. Pages bring as much with them. */
  interface Match extends Pick<Wire.MatchOut, "id" | "number" | "state" | "variant" | "players" | "replay_removed"> {
    entrants: Pick<Wire.EntrantOut, "bot">[];
    games: Pick<Wire.GameOut, "rotation" | "seats" | "scores" | "ranks" | "faults">[];
  }

  interface Fault {
    ply: number;
    seat: number;
    kind: string;
    code: string;
  }

  /** What a reader can do, with buttons or keys. */
  interface Actions {
    seek(ply: number): void;
    pause(): void;
    step(count: number): void;
    nextEvent(): void;
    live(): void;
    turnGame(count: number): void;
    setSpeed(speed: number): void;
    changeSpeed(count: number): void;
    see(perspective: string): void;
    turnSight(): void;
    help(): void;
    copy(button: HTMLButtonElement): void;
    saveSvg(): void;
    savePng(): void;
  }
}
