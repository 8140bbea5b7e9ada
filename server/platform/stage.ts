import DataLoader from 'dataloader';

interface StageSettings<Item, Result> {
  /** Carries a batch out; answers in the order of `items`, an Error where one item alone failed. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /** Calls back when the batch should go; the default is the end of the tick. */
  gather?: (go: () => void) => void;
}

/**
 * Group commit: at most one operation in flight; what arrives meanwhile goes out together in the next.
 * Alone, a caller waits for nothing but its own operation. With `maxBatch`, whole batches go one after another.
 */
export function createStage<Item, Result>(
  settings: StageSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256, gather = setImmediate } = settings;
  const waiting: (() => void)[] = [];
  let inFlight = false;

  function next(): void {
    const go = waiting.shift();
    if (!go) inFlight = false;
    else gather(go);
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
          gather(go);
        }
      },
    },
  );
  return (item) => loader.load(item);
}

/**
 * The convoy: holds the first stage until every active caller has queued, so that they go through all
 * later stages together; at most `patience` ms, and not at all for a caller that is alone.
 */
export function createConvoy(patience = 2) {
  let active = 0;
  let queued = 0;
  let release: (() => void) | undefined;

  function settle(): void {
    if (release && queued >= active) release();
  }

  return {
    /** Runs `call`, counted as active until it ends. */
    async ride<T>(call: () => Promise<T>): Promise<T> {
      active += 1;
      try {
        return await call();
      } finally {
        active -= 1;
        settle();
      }
    },
    /** To be called as an active caller queues at the first stage. */
    board(): void {
      queued += 1;
      settle();
    },
    gather(go: () => void): void {
      const depart = () => {
        if (release !== depart) return;
        clearTimeout(timer);
        release = undefined;
        queued = 0;
        setImmediate(go);
      };
      const timer = setTimeout(depart, patience);
      release = depart;
      if (queued >= active) depart();
    },
  };
}
