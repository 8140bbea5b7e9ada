const minute = 60_000;

/** Minutes before the end at which an open page is loaded again: to warn, and to keep the warning true. */
const marks = [5, 2, 0];
/** From here on the page warns (WCAG 2.2.1 asks for a warning; the 30 minutes themselves are the contract's). */
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
  // A second more: the server shall have passed the mark as well.
  const refreshAfter = Math.ceil((left - next * minute) / 1000) + 1;
  return { minutes: Math.ceil(left / minute), ending: left <= endingFrom * minute, refreshAfter };
}
