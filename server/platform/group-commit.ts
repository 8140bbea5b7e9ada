import DataLoader from 'dataloader';

interface GroupCommitSettings<Item, Result> {
  /** Carries a batch out; answers in the order of `items`, an Error where one item alone failed. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /** For work that no caller waits for: a batch is sent `ms` milliseconds after its first item, or with `items` items. */
  flushAfter?: { ms: number; items: number };
}

/**
 * Group commit: at most one operation in flight; what arrives during it goes out together in the next.
 * A lone caller waits for its own operation only, or for `flushAfter`. With `maxBatch`, whole batches go one after another.
 */
export function createGroupCommit<Item, Result>(
  settings: GroupCommitSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256, flushAfter } = settings;
  const waiting: (() => void)[] = [];
  let inFlight = false;
  /** Sends the batch that is being collected. */
  let flush: (() => void) | undefined;
  let pending = 0;

  function next(): void {
    const go = waiting.shift();
    if (!go) inFlight = false;
    else setImmediate(go);
  }

  function collect(go: () => void, ms: number): void {
    const leave = () => {
      clearTimeout(timer);
      flush = undefined;
      setImmediate(go);
    };
    const timer = setTimeout(leave, ms);
    flush = leave;
    pending = 0;
  }

  const loader = new DataLoader<Item, Result>(
    async (items) => {
      try {
        return await run(items);
      } finally {
        next();
      }
    },
    {
      cache: false,
      maxBatchSize: maxBatch,
      batchScheduleFn(go) {
        if (inFlight) waiting.push(go);
        else {
          inFlight = true;
          if (flushAfter) collect(go, flushAfter.ms);
          else setImmediate(go);
        }
      },
    },
  );
  return (item) => {
    const result = loader.load(item);
    pending += 1;
    if (flushAfter && pending >= flushAfter.items) flush?.();
    return result;
  };
}
