/** A database process that accepts connections. */
export type RunningProcess = {
  pid: number;
  /** Loopback port that it listens on. */
  port: number;
  /** Resolves with the reason, as a text, when the process has ended. Never rejects. */
  ended: Promise<string>;
  /** Asks the process to end, and kills it if it does not. Resolves when the process has ended. */
  stop(): Promise<void>;
};

/** Starts a database process on a port; 0 lets it choose one. */
export type Launch = (port: number) => Promise<RunningProcess>;
