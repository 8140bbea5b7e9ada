import DataLoader from 'dataloader';
import { createBatchWindow } from './batch-window.ts';

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
  /** Sends each batch that waits for the one in flight. All but the last are full. */
  const waiting: (() => void)[] = [];
  let inFlight = false;
  /** How many items the newest batch has. */
  let size = 0;
  const window = createBatchWindow(() => (waiting.length > 0 ? maxBatch : size), flushAfter);

  async function send(go: () => void): Promise<void> {
    inFlight = true;
    await window.wait();
    go();
  }

  function sendNext(): void {
    const go = waiting.shift();
    if (go) void send(go);
    else inFlight = false;
  }

  const loader = new DataLoader<Item, Result>(
    async (items) => {
      try {
        return await run(items);
      } finally {
        sendNext();
      }
    },
    {
      cache: false,
      maxBatchSize: maxBatch,
      batchScheduleFn(go) {
        size = 0;
        if (inFlight) waiting.push(go);
        else void send(go);
      },
    },
  );
  return (item) => {
    const result = loader.load(item);
    size += 1;
    window.itemAdded();
    return result;
  };
}
