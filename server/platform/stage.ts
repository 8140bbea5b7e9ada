import DataLoader from 'dataloader';

interface StageSettings<Item, Result> {
  /** Carries a batch out; answers in the order of `items`, an Error where one item alone failed. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
}

/**
 * Group commit: at most one operation in flight; what arrives meanwhile goes out together in the next.
 * Alone, a caller waits for nothing but its own operation. With `maxBatch`, whole batches go one after another.
 */
export function createStage<Item, Result>(
  settings: StageSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256 } = settings;
  const waiting: (() => void)[] = [];
  let inFlight = false;

  function next(): void {
    const go = waiting.shift();
    if (!go) inFlight = false;
    else setImmediate(go);
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
          setImmediate(go);
        }
      },
    },
  );
  return (item) => loader.load(item);
}

/**
 * The convoy: callers that would pass the same stages one after another set out together. Each waits until
 * every active one has come, at most `patience` ms; one that is alone waits for nothing.
 */
export function createConvoy(patience = 2) {
  let active = 0;
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function depart(): void {
    clearTimeout(timer);
    timer = undefined;
    const together = waiting;
    waiting = [];
    for (const go of together) go();
  }

  function assemble(): Promise<void> {
    return new Promise((go) => {
      waiting.push(go);
      if (waiting.length >= active) depart();
      else timer ??= setTimeout(depart, patience);
    });
  }

  /** Runs `call` once the others are there; it counts as active until it has ended. */
  return async function ride<T>(call: () => Promise<T>): Promise<T> {
    active += 1;
    try {
      if (active > 1) await assemble();
      return await call();
    } finally {
      active -= 1;
      if (waiting.length > 0 && waiting.length >= active) depart();
    }
  };
}
