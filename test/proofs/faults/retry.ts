import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../harness/time-limits.ts';

/**
 * Repeats a question every 20 ms until it is true.
 * @returns whether it became true within `ms`, or longer on a busy machine
 */
export async function eventually(ask: () => Promise<boolean>, ms: number): Promise<boolean> {
  for (const deadline = performance.now() + within(ms); performance.now() < deadline; ) {
    if (await ask()) return true;
    await sleep(20);
  }
  return ask();
}

/**
 * Repeats a call while the database or the server may be unreachable.
 * @throws its last error after a minute
 */
export async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + within(60_000); ; ) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

/** Resolves when the first of the promises ends, with or without an error. */
export async function firstOf(...events: Promise<unknown>[]): Promise<void> {
  await Promise.race(events.map((event) => event.catch(() => undefined)));
}

/** Settles like `work`, but `ms` milliseconds later, so that background work of the server has ended. */
export async function afterwards(work: Promise<unknown>, ms: number): Promise<unknown> {
  try {
    return await work;
  } finally {
    await sleep(ms);
  }
}

/** A promise that `open` resolves. */
export function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
