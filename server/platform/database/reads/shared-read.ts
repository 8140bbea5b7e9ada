interface Settings<T> {
  read: () => Promise<T>;
  /** How long one result is used for all callers, in milliseconds. */
  freshFor: number;
  clock: { now(): number };
}

/** Shares one read among all callers within `freshFor`. A failed read is not kept. */
export function createSharedRead<T>({ read, freshFor, clock }: Settings<T>): () => Promise<T> {
  let last: { since: number; result: Promise<T> } | undefined;

  return () => {
    const now = clock.now();
    // The clock may have been set back since the read, so the difference can be negative.
    if (last && Math.abs(now - last.since) < freshFor) return last.result;
    const current = { since: now, result: read() };
    last = current;
    current.result.catch(() => {
      if (last === current) last = undefined;
    });
    return current.result;
  };
}
