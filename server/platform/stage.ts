import DataLoader from 'dataloader';

interface StageSettings<Item, Result> {
  /** Carries a batch out; answers in the order of `items`, an Error where one item alone failed. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /** Milliseconds that the first of a batch waits for others, where nobody waits for the result. Default 0. */
  linger?: number;
}

/**
 * Group commit: at most one operation in flight; what arrives meanwhile goes out together in the next.
 * Alone, a caller waits for nothing but its own operation, unless it is told to linger. With `maxBatch`, whole batches go one after another.
 */
export function createStage<Item, Result>(
  settings: StageSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256, linger = 0 } = settings;
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
          if (linger > 0) setTimeout(go, linger);
          else setImmediate(go);
        }
      },
    },
  );
  return (item) => loader.load(item);
}

/** Milliseconds that a caller may wait for company: a part of what the trip takes, within bounds. */
const usualPatience = { least: 2, most: 8, ofTrip: 0.3 };

/**
 * The convoy: callers that would pass the same stages one after another set out together. Each waits, briefly,
 * until as many have come as are active or as set out last time; one that was alone last time, and is now,
 * waits for nothing.
 */
export function createConvoy(patience = usualPatience) {
  let active = 0;
  let lastSize = 1;
  let trip = 0;
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  const isComplete = () => waiting.length >= Math.max(active, lastSize);

  function depart(): void {
    clearTimeout(timer);
    timer = undefined;
    const together = waiting;
    waiting = [];
    lastSize = together.length;
    for (const go of together) go();
  }

  function assemble(): Promise<void> {
    const wait = Math.min(patience.most, Math.max(patience.least, patience.ofTrip * trip));
    return new Promise((go) => {
      waiting.push(go);
      if (isComplete()) depart();
      else timer ??= setTimeout(depart, wait);
    });
  }

  /** Runs `call` once the others are there; it counts as active until it has ended. */
  return async function ride<T>(call: () => Promise<T>): Promise<T> {
    active += 1;
    if (active > 1 || lastSize > 1) await assemble();
    const setOut = performance.now();
    try {
      return await call();
    } finally {
      trip = 0.9 * trip + 0.1 * (performance.now() - setOut);
      active -= 1;
      if (waiting.length > 0 && isComplete()) depart();
    }
  };
}
