/** Creates a lock that runs calls one after another. */
export function createMutex() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(call: () => Promise<T>): Promise<T> => {
    const result = last.then(call);
    last = result.catch(() => undefined);
    return result;
  };
}

/** Creates a lock for concurrent readers or one writer. If a writer waits, later readers wait until the writer has ended. */
export function createReadWriteLock() {
  const inTurn = createMutex();
  const readers = new Set<Promise<unknown>>();

  return {
    async read<T>(call: () => Promise<T>): Promise<T> {
      const { reading } = await inTurn(async () => {
        const started = call();
        const settled = started.catch(() => undefined).finally(() => readers.delete(settled));
        readers.add(settled);
        return { reading: started };
      });
      return reading;
    },
    write: <T>(call: () => Promise<T>): Promise<T> =>
      inTurn(async () => {
        await Promise.all(readers);
        return call();
      }),
  };
}
