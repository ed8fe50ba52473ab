// The messages of the websocket (docs/live.md). A test holds real ones against this.

declare namespace Live {
  type Message =
    | { op: "welcome"; epoch: string; author: string | null }
    | { op: "snapshot"; topic: string; seq: number; data: unknown }
    | { op: "delta"; topic: string; seq: number; data: { kind: string }[] }
    | { op: "resumed"; topic: string; seq: number }
    | { op: "end"; topic: string; seq: number; data: unknown }
    | { op: "error"; topic: string | null; code: string; detail: string }
    | { op: "pong" };

  type Told<Op> = Extract<Message, { op: Op }>;

  /** Who follows a topic. */
  interface Listener<Snapshot, Event, End> {
    snapshot?(data: Snapshot): void;
    event?(event: Event): void;
    end?(data: End): void;
    error?(error: Told<"error">): void;
  }

  /** By the first part of a topic: what follows it. */
  interface Topics {
    lobby: Listener<Lobby, LobbyEvent, never>;
    match: Listener<Match, MatchEvent, MatchEnd>;
    leaderboard: Listener<Wire.LeaderboardOut, Lines, never>;
    tournament: Listener<unknown, { kind: "changed"; tournament: unknown }, unknown>;
    version: Listener<Version, VersionEvent, never>;
  }

  interface Lobby {
    matches: Wire.RunningOut[];
    recent: Wire.PlayedOut[];
    committed: Committed[];
    pace: Pace;
  }

  interface Pace {
    tempo: "full" | "limited" | "calm" | "settled";
    per_minute: number | null;
  }

  interface Committed {
    id: string;
    commitment: string;
    origin: Wire.OriginOut | null;
  }

  type Why = "reason" | "reason_code" | "reason_details";

  interface Where {
    rotation: number;
    plies: number;
    scores: number[];
  }

  type LobbyEvent =
    | ({ kind: "committed" } & Committed)
    | { kind: "began"; match: Wire.RunningOut }
    | ({ kind: "moved"; id: string } & Where)
    | { kind: "finished"; id: string; number: number; result: Wire.PlayedOut }
    | { kind: "gone"; id: string; reason: string }
    | ({ kind: "pace" } & Pace);

  interface Match {
    match: Wire.MatchOut;
    games: Standing[];
    current: Current | null;
    attempt: string | null;
  }

  interface Standing extends Where {
    seats: number[];
    ended: boolean;
    faults: Wire.FrameFaultOut[];
  }

  interface Current {
    rotation: number;
    seats: number[];
    view: Views.View;
    frames: Wire.FrameOut[];
    clocks: number[];
  }

  type MatchEvent =
    | {
        kind: "game";
        rotation: number;
        attempt: string;
        commitment: string;
        seats: number[];
        view: Views.View;
        clocks: number[];
      }
    | Wire.FrameOut
    | ({ kind: "fault"; rotation: number } & Wire.FrameFaultOut)
    | { kind: "ended"; rotation: number; scores: number[] }
    | { kind: "restarted"; reason: string; reason_code: "platform" };

  interface MatchEnd {
    state: "finished" | "failed" | "cancelled" | "withdrawn";
    match: Wire.MatchOut;
  }

  interface Lines {
    kind: "lines";
    matches: number;
    as_of: number | null;
    lines: Wire.LineOut[];
    removed: [string, number][];
    order: [string, number][] | null;
  }

  interface Version {
    version: Wire.VersionOut;
    report: Pick<Wire.ReportOut, "findings" | "output"> | null;
    first: Wire.MatchOut | null;
  }

  type VersionEvent =
    | ({ kind: "state"; state: string } & Pick<Wire.VersionOut, Why>)
    | { kind: "match"; match: Wire.MatchOut }
    | { kind: "doing"; text: string }
    | { kind: "output"; text: string }
    | ({ kind: "finding" } & Wire.FindingOut);
}
