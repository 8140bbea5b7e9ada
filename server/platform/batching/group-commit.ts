import DataLoader from 'dataloader';
import { createBatchWindow } from './batch-window.ts';

interface GroupCommitSettings<Item, Result> {
  /** Runs a batch. Returns the results in the order of `items`, with an Error for an item that failed alone. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /** For work that no caller waits for: sends a batch `ms` milliseconds after its first item, or with `items` items. */
  flushAfter?: { ms: number; items: number };
}

/**
 * Group commit: runs at most one operation at a time. Items that arrive during it form the next batch. A single caller
 * waits only for its own operation, or for `flushAfter`. Batches over `maxBatch` are split and sent one after another.
 */
export function createGroupCommit<Item, Result>(
  settings: GroupCommitSettings<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxBatch = 256, flushAfter } = settings;
  /** A function for each waiting batch that sends it. All batches but the last are full. */
  const waiting: (() => void)[] = [];
  let inFlight = false;
  /** How many items the newest batch has. */
  let size = 0;
  const window = createBatchWindow(() => (waiting.length > 0 ? maxBatch : size), flushAfter);

  async function send(sendBatch: () => void): Promise<void> {
    inFlight = true;
    await window.wait();
    sendBatch();
  }

  function sendNext(): void {
    const sendBatch = waiting.shift();
    if (sendBatch) void send(sendBatch);
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
      batchScheduleFn(sendBatch) {
        size = 0;
        if (inFlight) waiting.push(sendBatch);
        else void send(sendBatch);
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
