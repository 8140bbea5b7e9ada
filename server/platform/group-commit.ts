import DataLoader from 'dataloader';

interface StageSettings<Item, Result> {
  /** Carries a batch out; answers in the order of `items`, an Error where one item alone failed. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /** Where nobody waits for the result: the first of a batch waits `ms` milliseconds for others, or until they are `enough`. */
  linger?: { ms: number; enough: number };
}

/**
 * Group commit: at most one operation in flight; what arrives meanwhile goes out together in the next.
 * Alone, a caller waits for nothing but its own operation, unless it is told to linger. With `maxBatch`, whole batches go one after another.
 */
export function createStage<Item, Result>(
  settings: StageSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256, linger } = settings;
  const waiting: (() => void)[] = [];
  let inFlight = false;
  /** Ends the wait of the batch that lingers. */
  let hurry: (() => void) | undefined;
  let gathered = 0;

  function next(): void {
    const go = waiting.shift();
    if (!go) inFlight = false;
    else setImmediate(go);
  }

  function lingerWith(go: () => void, ms: number): void {
    const leave = () => {
      clearTimeout(timer);
      hurry = undefined;
      setImmediate(go);
    };
    const timer = setTimeout(leave, ms);
    hurry = leave;
    gathered = 0;
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
          if (linger) lingerWith(go, linger.ms);
          else setImmediate(go);
        }
      },
    },
  );
  return (item) => {
    const result = loader.load(item);
    gathered += 1;
    if (linger && gathered >= linger.enough) hurry?.();
    return result;
  };
}
