/** Creates random numbers from a seed (mulberry32). The same seed yields the same numbers, and so the same schedule. */
export function createRandom(seed: number) {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    chance: (probability: number) => next() < probability,
    /** Returns an integer from `low` to `high`, both included. */
    int: (low: number, high: number) => low + Math.floor(next() * (high - low + 1)),
    between: (low: number, high: number) => low + next() * (high - low),
    pick<T>(choices: readonly [T, ...T[]]): T {
      return choices[Math.floor(next() * choices.length)] ?? choices[0];
    },
    some<T>(list: readonly T[]): T | undefined {
      return list[Math.floor(next() * list.length)];
    },
  };
}
export type Random = ReturnType<typeof createRandom>;

/** The seeds from 1 to `budget`, after the one that was successful last. */
export const seedsOf = ({ foundBy = 1, budget }: { foundBy?: number; budget: number }): number[] => [
  foundBy,
  ...Array.from({ length: budget }, (_, n) => n + 1).filter((seed) => seed !== foundBy),
];
