import DataLoader from 'dataloader';
import { createBatchWindow } from './batch-window.ts';

interface GroupCommitSettings<Item, Result> {
  /** Runs a batch. Returns the results in the order of `items`, with an Error for an item that failed alone. */
  run: (items: readonly Item[]) => Promise<ArrayLike<Result | Error>>;
  maxBatch?: number;
  /**
   * For work that no caller waits for. A batch is sent `ms` milliseconds after its first item, or as soon as it has this
   * many items.
   */
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
  /** The batches behind the one in flight, oldest first, each as the function that sends it. */
  const waiting: (() => void)[] = [];
  let inFlight = false;
  /** How many items the newest batch has. */
  let newestSize = 0;
  /** The size of the batch that is sent next. It is full if others wait behind it, as DataLoader begins no other before. */
  const nextSize = () => (waiting.length > 0 ? maxBatch : newestSize);
  const window = createBatchWindow(nextSize, flushAfter);

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
      // DataLoader calls this when it begins a new batch, before it adds the first item.
      batchScheduleFn(sendBatch) {
        newestSize = 0;
        if (inFlight) waiting.push(sendBatch);
        else void send(sendBatch);
      },
    },
  );
  return (item) => {
    const result = loader.load(item);
    newestSize += 1;
    window.itemAdded();
    return result;
  };
}
