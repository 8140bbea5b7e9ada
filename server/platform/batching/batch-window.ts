/** How long a batch waits at most. */
const longestWaitMs = 2;
/** A batch waits only if the last one had at least this many items. */
const fewestItems = 4;

interface Fixed {
  ms: number;
  items: number;
}

/**
 * Decides when a batch is sent: as soon as it is as large as the last one, or after 2 ms. Callers that got their results
 * at the same time call again at almost the same time. Without the wait, the first few of them would be a batch of their
 * own. Small batches never wait.
 * @param size returns the size of the batch that is being collected
 * @param fixed waits for this many milliseconds or items, in place of the size of the last batch
 */
export function createBatchWindow(size: () => number, fixed?: Fixed) {
  let expected = fixed?.items ?? 0;
  let close: (() => void) | undefined;

  return {
    /** Resolves when the batch should be sent. Items of the same turn of the event loop are part of it. */
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
