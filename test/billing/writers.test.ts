import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writerOf } from '../../server/billing/hand-over/writers.ts';

const ids = (count: number) => Array.from({ length: count }, (_, n) => `process ${n}`);
const wallets = Array.from({ length: 400 }, (_, n) => `ptr_${n}:live`);
const writersAmong = (processes: readonly string[]) =>
  new Set(wallets.map((walletId) => writerOf(walletId, processes)));

describe("the choice of a wallet's writer", () => {
  it.each([
    [1, 1],
    [4, 1],
    [5, 2],
    [8, 2],
    [9, 3],
    [24, 6],
  ])(
    'chooses one in four processes, rounded up: of %i processes, %i become writers',
    (processes, writers) => {
      expect(writersAmong(ids(processes)).size).toBe(writers);
    },
  );

  it('yields the same writer for a wallet in each process, whatever the order of the list of processes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.string(), (processes, walletId) => {
        expect(writerOf(walletId, processes.toReversed())).toBe(writerOf(walletId, processes));
        expect(processes).toContain(writerOf(walletId, processes));
      }),
    );
  });

  it('yields the same writer for each wallet after another process, which was no writer, has left', () => {
    const before = ids(8);
    const leaving = before.find((id) => !writersAmong(before).has(id));
    const after = before.filter((id) => id !== leaving);
    expect(wallets.map((walletId) => writerOf(walletId, after))).toEqual(
      wallets.map((walletId) => writerOf(walletId, before)),
    );
  });

  it('replaces a failed writer by another process, and a second writer remains one', () => {
    const before = ids(8);
    const [failed, other] = writersAmong(before);
    const after = before.filter((id) => id !== failed);
    const writers = writersAmong(after);
    expect(writers.size).toBe(2);
    expect(writers).toContain(other);
  });

  it('returns undefined if no process can write', () => {
    expect(writerOf('ptr_1:live', [])).toBeUndefined();
  });
});
