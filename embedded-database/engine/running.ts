/** A database process that accepts connections. */
export type RunningProcess = {
  pid: number;
  /** Loopback port that it listens on. */
  port: number;
  /** Settles when the process has ended, with why, in words. Never rejects. */
  ended: Promise<string>;
  /** Asks the process to end, and makes it end if it does not; settles when it has. */
  stop(): Promise<void>;
};

/** Starts a database process on a port; 0 lets it choose one. */
export type Launch = (port: number) => Promise<RunningProcess>;
