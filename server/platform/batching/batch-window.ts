const longestWaitMs = 2;
/** After a smaller batch, the next one is sent without a wait. So a service with few callers has no extra latency. */
const leastExpectedItems = 4;

/** The bounds of a batch that no caller waits for, in place of those that follow from the last batch. */
interface FixedBounds {
  /** How long the batch waits for further items. */
  ms: number;
  /** With this number of items, the batch is sent before the wait ends. */
  items: number;
}

/**
 * Decides when a batch is sent: as soon as it is as large as the last one, or after 2 ms. Callers that got their results
 * at the same time call again at almost the same time. Without the wait, the first few of them would be a batch of their
 * own. After a small batch, the next one does not wait.
 * @param size returns the size of the batch that is being collected
 */
export function createBatchWindow(size: () => number, fixed?: FixedBounds) {
  let expectedItems = fixed?.items ?? 0;
  let endWait: (() => void) | undefined;

  return {
    /** Resolves when the batch should be sent. */
    async wait(): Promise<void> {
      const isWaitUseful = fixed !== undefined || expectedItems >= leastExpectedItems;
      if (isWaitUseful && size() < expectedItems) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fixed?.ms ?? longestWaitMs);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        endWait = undefined;
      }
      // The items that other callers add in this turn of the event loop are part of the batch too.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!fixed) expectedItems = size();
    },

    /** Call this when an item was added. */
    itemAdded(): void {
      if (size() >= expectedItems) endWait?.();
    },
  };
}
