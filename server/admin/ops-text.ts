/** Writes an amount of cents as `12.50 USD`. */
export const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;
/** Writes a time as `2026-07-01 09:00:00`, in UTC. */
export const timeOf = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');
