import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createConvoy } from '../../server/platform/convoy.ts';

async function turns(count = 4): Promise<void> {
  for (let n = 0; n < count; n += 1) await nextTurn();
}

/** Waits so long for the next to come, and so long for a convoy under way. */
const patient = ({ gap, back }: { gap: number; back: number }) => ({
  gap: { least: gap, most: gap, ofTrip: 0 },
  company: gap,
  return: back,
});
const forEver = 60_000;

/** A call that ends when it is told to. */
function untilTold() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { call: () => ended, end };
}

describe('a convoy', () => {
  it('lets a caller who is alone go at once, and gives what the call gives', async () => {
    const ride = createConvoy(patient({ gap: forEver, back: forEver }));
    expect(await ride(async () => 'done')).toBe('done');
    await expect(ride(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await ride(async () => 'again')).toBe('again');
  });

  it('sets out again when those who came meanwhile and those who were under way are there', async () => {
    const ride = createConvoy(patient({ gap: forEver, back: forEver }));
    const first = untilTold();
    const underWay = ride(first.call);
    const started: string[] = [];
    const join = (name: string) => ride(async () => void started.push(name));
    const meanwhile = [join('a'), join('b')];
    await turns();
    first.end();
    await underWay;
    await turns();
    expect(started).toEqual([]);
    await Promise.all([...meanwhile, join('first again')]);
    expect(started).toEqual(['a', 'b', 'first again']);
  });

  it('waits no longer than its patience for those who do not come again', async () => {
    const ride = createConvoy(patient({ gap: 5, back: forEver }));
    const first = untilTold();
    const underWay = ride(first.call);
    const other = ride(async () => 'went');
    first.end();
    await underWay;
    expect(await other).toBe('went');
  });

  it('waits no longer than its patience for a convoy that takes its time', async () => {
    const ride = createConvoy(patient({ gap: forEver, back: 5 }));
    const slow = untilTold();
    const underWay = ride(slow.call);
    expect(await ride(async () => 'went')).toBe('went');
    slow.end();
    await underWay;
  });
});
