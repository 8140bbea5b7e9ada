/** Milliseconds that a batch waits at most. */
const longestWaitMs = 2;
/** Fewer items are not worth a wait. */
const fewestItems = 4;

interface Fixed {
  ms: number;
  items: number;
}

/**
 * Decides when a batch is sent: as soon as it is as large as the last one, or after 2 ms. Callers who got their answers
 * together ask again almost together. Without a wait, the first few of them would be a batch of their own. Small batches
 * never wait.
 * @param size of the batch that is being collected
 * @param fixed milliseconds and items to wait for, instead of the size of the last batch
 */
export function createBatchWindow(size: () => number, fixed?: Fixed) {
  let expected = fixed?.items ?? 0;
  let close: (() => void) | undefined;

  return {
    /** Resolves when the batch should be sent. What arrives in the same turn of the event loop goes with it. */
    async wait(): Promise<void> {
      if (size() < expected && (fixed || expected >= fewestItems)) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fixed?.ms ?? longestWaitMs);
          close = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        close = undefined;
      }
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!fixed) expected = size();
    },

    /** Call this when an item was added. */
    itemAdded(): void {
      if (size() >= expected) close?.();
    },
  };
}
