interface Settings<T> {
  read: () => Promise<T>;
  /** Milliseconds that one result serves all who ask. */
  freshFor: number;
  clock: { now(): number };
}

/** One read for all who ask within `freshFor`: a read that is under way is shared, one that failed is forgotten. */
export function createSharedRead<T>({ read, freshFor, clock }: Settings<T>): () => Promise<T> {
  let last: { since: number; result: Promise<T> } | undefined;

  return () => {
    const now = clock.now();
    if (last && Math.abs(now - last.since) < freshFor) return last.result;
    const current = { since: now, result: read() };
    last = current;
    current.result.catch(() => {
      if (last === current) last = undefined;
    });
    return current.result;
  };
}
