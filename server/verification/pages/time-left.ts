const minute = 60_000;

/** An open page reloads when this many minutes are left, to show the warning and to keep it correct. */
const marks = [5, 2, 0];
/** Minutes left from which on the page warns (WCAG 2.2.1). The session's 30 minutes are from the contract. */
const endingFrom = 5;

export interface TimeLeft {
  /** Whole minutes, rounded up. */
  minutes: number;
  /** Whether the page has to warn that time runs out. */
  ending: boolean;
  /** Seconds after which the page should be asked for again. */
  refreshAfter: number;
}

/** How long a session that ends at `expiresAt` is still open at `now`, both in milliseconds. */
export function timeLeft(expiresAt: number, now: number): TimeLeft {
  const left = Math.max(0, expiresAt - now);
  const next = marks.find((mark) => mark * minute < left) ?? 0;
  // One second more, so that the mark has passed on the server too.
  const refreshAfter = Math.ceil((left - next * minute) / 1000) + 1;
  return { minutes: Math.ceil(left / minute), ending: left <= endingFrom * minute, refreshAfter };
}
