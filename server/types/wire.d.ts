// What the HTTP API sends, as far as our pages ask for it.
// Written by `python -m tests.server.web.support.wire_types` from the server's models: do not edit.

declare namespace Wire {
  interface AccountOut {
    name: string;
    house: boolean;
    scopes: string[];
    bots: string[];
    quotas: QuotasOut;
    uploads_left: number;
  }

  interface AuditLineOut {
    bot: string;
    partner: string | null;
    test: string;
    variant: string | null;
    matches: number;
    odds: number;
    alarm: number | null;
  }

  interface BotAuditOut {
    matches: number;
    suspicious: boolean;
    tests: AuditLineOut[];
    telling: number[];
  }

  interface BotOut {
    name: string;
    author: string;
    house: boolean;
    created: string;
    description: string;
    state: string;
    version: number;
    variants: string[];
    players: number[];
    ratings: RatingOut[];
  }

  interface ControlOut {
    bank_ms: number;
    increment_ms: number;
    start_ms: number;
  }

  interface EntrantOut {
    position: number;
    bot: string;
    version: number;
    author: string;
    rank: number | null;
    wins: number | null;
    points: number | null;
    faults: number | null;
    mu: number | null;
    sigma: number | null;
  }

  interface FaultOut {
    id: number;
    match: number;
    rotation: number;
    seat: number;
    version: number;
    decision: number;
    kind: string;
    code: string;
    at: string;
    text: string | null;
  }

  interface FindingOut {
    check: string;
    mark: "ok" | "warning" | "failed";
    text: string;
    advice: string;
    log: string;
  }

  interface FrameFaultOut {
    ply: number;
    seat: number;
    fault: string;
    code: string;
  }

  interface FrameOut {
    kind: "frame";
    rotation: number;
    ply: number;
    seat: number;
    action: number;
    notation: string;
    card: string | null;
    ms: number | null;
    patch: [(string | number)[], unknown][];
    scores: number[];
    clocks: number[];
  }

  interface FramesOut {
    match: string;
    rotation: number;
    viewer: string;
    seats: number[];
    view: Views.View;
    clocks: number[];
    frames: FrameOut[];
    faults: FrameFaultOut[];
    ended: boolean;
    scores: number[];
  }

  interface GameFaultOut {
    seat: number;
    decision: number;
    kind: string;
    code: string;
  }

  interface GameOut {
    rotation: number;
    seats: number[];
    ending: string;
    scores: number[];
    ranks: number[];
    digest: string;
    faults: GameFaultOut[];
  }

  interface JointOut {
    rating: number;
    sigma: number;
    low: number;
    high: number;
    share: number;
    share_low: number;
    share_high: number;
    best: number;
    worst: number;
    own: number;
    others: number;
    before: number;
    provisional: boolean;
  }

  interface LeaderboardOut {
    variant: string;
    players: number;
    matches: number;
    official: string;
    as_of: number | null;
    lines: LineOut[];
  }

  interface LineOut {
    rank: number | null;
    tied: number;
    provisional: boolean;
    bot: string;
    version: number;
    author: string;
    state: string;
    mu: number;
    sigma: number;
    low: number;
    high: number;
    matches: number;
    firsts: number;
    shared: number;
    games: number;
    wins: number;
    faults: number;
    seats: (number | null)[];
    last_match: number;
    last_played: string;
    joint: JointOut | null;
  }

  interface MatchOut {
    id: string;
    number: number | null;
    state: string;
    purpose: string;
    rated: boolean;
    variant: Views.Variant;
    players: number;
    options: Record<string, number>;
    clock: ControlOut;
    reason: string;
    reason_code: string;
    reason_details: Record<string, string | number>;
    tournament: string | null;
    leg: string | null;
    commitment: string | null;
    seed: string | null;
    origin: OriginOut | null;
    result_digest: string | null;
    entrants: EntrantOut[];
    decisions: number | null;
    created: string;
    finished: string | null;
    games: GameOut[];
    replay_removed: boolean;
  }

  interface OpenedOut {
    name: string;
    token: string;
    scopes: string[];
  }

  interface OriginOut {
    part: number;
    after: number;
    part_commitment: string;
    secret: string | null;
    previous: number;
    previous_digest: string;
    programs: string[];
  }

  interface PageOfFaultOut {
    items: FaultOut[];
    next: string | null;
  }

  interface PageOfStepOut {
    items: StepOut[];
    next: string | null;
  }

  interface PlayedOut {
    id: string;
    variant: Views.Variant;
    players: number;
    purpose: string;
    rated: boolean;
    reason: string;
    reason_code: string;
    reason_details: Record<string, string | number>;
    tournament: string | null;
    number: number;
    finished: string | null;
    entrants: ResultOut[];
  }

  interface PlayerOut {
    bot: string;
    version: number;
    author: string;
    mu: number | null;
  }

  interface ProblemOut {
    type: string;
    title: string;
    status: number;
    detail: string;
    errors: string[];
  }

  interface QuotasOut {
    archive_bytes: number;
    uploads_per_hour: number;
    bots: number;
    challenges_per_hour: number;
    tournaments_per_hour: number;
    requests_per_minute: number;
  }

  interface RatingOut {
    variant: string;
    players: number;
    mu: number;
    sigma: number;
    low: number;
    high: number;
    rank: number | null;
    provisional: boolean;
    matches: number;
    games: number;
    wins: number;
    faults: number;
    seats: (number | null)[];
    joint: JointOut | null;
  }

  interface ReportOut {
    findings: FindingOut[];
    output: string;
    state: string;
    reason: string;
    reason_code: string;
    reason_details: Record<string, string | number | boolean>;
    started: string | null;
    finished: string | null;
  }

  interface ResultOut {
    bot: string;
    version: number;
    author: string;
    mu: number | null;
    rank: number;
    wins: number;
    points: number;
    faults: number;
  }

  interface RunningOut {
    id: string;
    variant: Views.Variant;
    players: number;
    purpose: string;
    rated: boolean;
    reason: string;
    reason_code: string;
    reason_details: Record<string, string | number>;
    tournament: string | null;
    commitment: string | null;
    entrants: PlayerOut[];
    rotation: number;
    plies: number;
    scores: number[];
    since: string;
  }

  interface StepOut {
    match: number;
    version: number;
    at: string;
    mu: number;
    sigma: number;
  }

  interface TimeOut {
    version: number;
    variant: string;
    players: number;
    matches: number;
    asked: number;
    mean_ms: number;
    slowest_ms: number;
    cpu_ms: number;
    wall_ms: number;
  }

  interface TimesOut {
    profile: TimeOut[];
  }

  interface VersionOut {
    id: number;
    number: number;
    state: string;
    reason: string | null;
    reason_code: string | null;
    reason_details: Record<string, string | number | boolean> | null;
    variants: string[];
    players: number[];
    description: string;
    created: string;
    size: number | null;
    digest: string | null;
    built_in: string | null;
  }
}
