import { readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time of this thread. Linux counts it for each thread. Elsewhere it is that of the process, which
 * is never less.
 */
function processorTime(): number {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/**
 * Returns the longest time for which `work` held the event loop, in milliseconds of processor time. Time in which the machine
 * ran other programs does not count.
 */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = processorTime();
  let isDone = false;
  const turn = () => {
    const now = processorTime();
    longest = Math.max(longest, now - last);
    last = processorTime();
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    isDone = true;
  }
  await new Promise((resolve) => setImmediate(resolve));
  return longest;
}

/** The bound of a stretch, on a machine that does the work of `yardstick` in its usual time. */
const mostMs = 50;
const usualYardstickMs = 12;
const sample = Array.from({ length: 5_000 }, (_, n) => ({
  id: `txn_${n}`,
  at: '2026-01-01',
  amount: n,
  of: null,
}));

/**
 * How many times slower this machine is now than usual. Programs that share its caches and memory make all work slower, also
 * by processor time.
 */
function slowness(): number {
  const began = processorTime();
  for (let round = 0; round < 2; round += 1)
    Buffer.from(JSON.stringify(JSON.parse(JSON.stringify(sample)))).toString('base64url');
  return Math.max(1, (processorTime() - began) / usualYardstickMs);
}

/**
 * Returns how long `work` holds the event loop, as a share of what is allowed: 50 ms on a usual machine. It is the least of some
 * measurements, because the first run of a function, and other work of this process, count too.
 */
export async function shareOfBound(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5 && least >= 1; round += 1) {
    const share = (await longestStretch(work)) / mostMs;
    // What a usual machine may take needs no comparison.
    least = Math.min(least, share < 1 ? share : share / slowness());
  }
  return least;
}
