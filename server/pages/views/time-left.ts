const minute = 60_000;

/** An open page reloads when so many minutes are left, to show the warning and to keep it correct. */
const reloadMinutes = [5, 2, 0];
/** The page warns when so many minutes are left (WCAG 2.2.1). The session's 30 minutes are from the contract. */
const warningMinutes = 5;

/**
 * How long a session that ends at `expiresAt` is still open at `now`, both in milliseconds.
 * @returns `minutes`: whole ones, rounded up. `ending`: whether the page has to warn. `refreshAfter`: seconds after which the
 * page should be asked for again
 */
export function timeLeft(expiresAt: number, now: number) {
  const left = Math.max(0, expiresAt - now);
  const nextReload = reloadMinutes.find((minutes) => minutes * minute < left) ?? 0;
  // One second more, so that this time has come on the server too.
  const refreshAfter = Math.ceil((left - nextReload * minute) / 1000) + 1;
  return { minutes: Math.ceil(left / minute), ending: left <= warningMinutes * minute, refreshAfter };
}
