/**
 * Returns a function that long work awaits between its parts. In each turn of the event loop, one waiting part goes on. So
 * other requests wait for one part at most, however many callers have long work.
 */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];

  function goOn(): void {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(goOn);
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(goOn);
    });
}
