import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every 20 ms until the answer is there. @returns whether it came within `ms` */
export async function eventually(ask: () => Promise<boolean>, ms: number): Promise<boolean> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; ) {
    if (await ask()) return true;
    await sleep(20);
  }
  return ask();
}

/** Does it again, while the database or the server may be away. @throws its last error after `ms` */
export async function insist<T>(call: () => Promise<T>, ms = 60_000): Promise<T> {
  for (const deadline = performance.now() + ms; ; ) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

/** Resolves with the first of them, however it ends. */
export async function whichever(...events: Promise<unknown>[]): Promise<void> {
  await Promise.race(events.map((event) => event.catch(() => undefined)));
}

/** Settles as `work` does, `ms` later: what it has set off in the background has happened then. */
export const afterwards = (work: Promise<unknown>, ms: number): Promise<unknown> =>
  work.finally(() => sleep(ms));

/** Something that happens once. */
export function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
