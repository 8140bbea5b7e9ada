import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBacklog, defaultLimits, type Limits } from '../../../server/webhooks/delivery/backlog.ts';
import type { Lane } from '../../../server/webhooks/delivery/delivery.ts';

type Backlog = ReturnType<typeof createBacklog>;
const laneOf = (id: string): Lane => (id.startsWith('first') ? 'first' : 'retry');

/** Leases for all endpoints that can. @returns the ids of each turn */
async function lease(backlog: Backlog): Promise<string[][]> {
  const turns = [...backlog.turns()];
  const taken = [];
  for (const turn of turns) {
    const ids = await backlog.take(turn);
    backlog.end(
      turn,
      ids.map((id) => ({ lane: laneOf(id) })),
    );
    taken.push(ids);
  }
  return taken;
}

/** A backlog over stored deliveries of one endpoint. */
function stored(firsts: number, retries: number, limits: Limits = defaultLimits) {
  const due = {
    first: Array.from({ length: firsts }, (_, at) => `first ${at}`),
    retry: Array.from({ length: retries }, (_, at) => `retry ${at}`),
  };
  let queries = 0;
  const backlog = createBacklog({
    limits,
    async find(_keyId, lane, limit) {
      queries += 1;
      return due[lane].slice(0, limit);
    },
  });
  return { backlog, due, queries: () => queries };
}

describe('the due deliveries of an endpoint', () => {
  it('are leased from both lanes in turn, and a retry goes first while none is in flight', async () => {
    const { backlog } = stored(60, 60);
    backlog.found('key', undefined);
    expect(await lease(backlog)).toEqual([['retry 0', 'first 0', 'retry 1', 'first 1', 'retry 2']]);
    backlog.free('key', 'first');
    expect(await lease(backlog)).toEqual([['first 2']]);
    backlog.free('key', 'retry');
    backlog.free('key', 'retry');
    expect(await lease(backlog)).toEqual([['first 3', 'retry 3']]);
  });

  it('leave the last slot to first attempts', async () => {
    const { backlog } = stored(0, 60);
    backlog.found('key', undefined);
    expect((await lease(backlog))[0]).toHaveLength(4);
    expect(await lease(backlog)).toEqual([]);
    backlog.add('key', 'first', 'first new');
    expect(await lease(backlog)).toEqual([['first new']]);
  });

  it('are each leased exactly once, and few queries find them: 70 first attempts and 7 retries', async () => {
    const { backlog, due, queries } = stored(70, 7);
    backlog.found('key', undefined);
    const all: string[] = [];
    for (;;) {
      const ids = (await lease(backlog)).flat();
      if (ids.length === 0) break;
      for (const id of ids) {
        due[laneOf(id)].splice(due[laneOf(id)].indexOf(id), 1);
        backlog.free('key', laneOf(id));
      }
      all.push(...ids);
    }
    expect(new Set(all).size).toBe(77);
    expect(all).toHaveLength(77);
    expect(queries()).toBeLessThanOrEqual(4);
  });

  it('are leased even if they become due while the database is being queried', async () => {
    const backlog: Backlog = createBacklog({
      limits: defaultLimits,
      async find(_keyId, lane) {
        backlog.add('key', lane, `${lane} new`);
        return [];
      },
    });
    backlog.found('key', undefined);
    expect((await lease(backlog)).flat().toSorted()).toEqual(['first new', 'retry new']);
  });

  it('are read again after a hold during a query, and in the order of the database', async () => {
    const answers = [['first 1'], ['first 0', 'first 1']];
    const backlog: Backlog = createBacklog({
      limits: { perEndpoint: 1, pool: 10 },
      async find(_keyId, lane) {
        if (lane === 'first' && answers.length === 2) backlog.hold('key', 0);
        return lane === 'first' ? (answers.shift() ?? []) : [];
      },
    });
    backlog.found('key', undefined);
    expect(await lease(backlog)).toEqual([['first 1']]);
    backlog.free('key', 'first');
    expect(await lease(backlog)).toEqual([['first 0']]);
  });

  it('are leased without another query after one has found all of them, and those added during it come last', async () => {
    const { backlog, queries } = stored(0, 0);
    backlog.add('key', 'first', 'first new');
    backlog.add('key', 'first', 'first 0');
    backlog.found('key', { first: ['first 0', 'first 1'], retry: ['retry 0'] });
    expect(await lease(backlog)).toEqual([['retry 0', 'first 0', 'first 1', 'first new']]);
    expect(queries()).toBe(0);
  });

  it('are found by further queries if one query has found more than 50 of a lane', async () => {
    const { backlog, due, queries } = stored(60, 0);
    backlog.found('key', { ...due, first: [...due.first] });
    due.first.splice(0, 50);
    const all: string[] = [];
    for (let ids = await lease(backlog); ids.length > 0; ids = await lease(backlog)) {
      for (const id of ids.flat()) backlog.free('key', laneOf(id));
      all.push(...ids.flat());
      if (all.length > 50) due.first.splice(0, 5);
    }
    expect(all).toEqual(Array.from({ length: 60 }, (_, at) => `first ${at}`));
    expect(queries()).toBeGreaterThan(0);
  });

  it('wait while the endpoint is held, and follow its release', async () => {
    const { backlog } = stored(1, 0);
    backlog.hold('key', 60_000);
    expect(await lease(backlog)).toEqual([]);
    expect(backlog.claim('key')).toBe(false);
    backlog.release('key');
    expect(await lease(backlog)).toEqual([['first 0']]);
  });
});

describe('a new first attempt', () => {
  it('takes a slot unless other deliveries of its endpoint wait before it', async () => {
    const { backlog } = stored(0, 0);
    expect(backlog.claim('key')).toBe(true);
    backlog.add('key', 'first', 'first old');
    expect(backlog.claim('key')).toBe(false);
    expect(await lease(backlog)).toEqual([['first old']]);
    expect(backlog.claim('key')).toBe(true);
  });

  it('takes no slot of the pool that other endpoints wait for', async () => {
    const { backlog } = stored(0, 0, { perEndpoint: 2, pool: 2 });
    expect([backlog.claim('a'), backlog.claim('a'), backlog.claim('b')]).toEqual([true, true, false]);
    backlog.add('b', 'first', 'first b');
    expect(await lease(backlog)).toEqual([]);
    backlog.free('a', 'first');
    expect(backlog.claim('c')).toBe(false);
    expect(await lease(backlog)).toEqual([['first b']]);
  });
});

it('an endpoint gets the free slot of the pool if the one before it in the queue has nothing left', async () => {
  const { backlog } = stored(0, 0, { perEndpoint: 4, pool: 4 });
  for (const id of ['retry 1', 'retry 2', 'retry 3']) backlog.add('a', 'retry', id);
  expect(await lease(backlog)).toHaveLength(1);
  for (const keyId of ['k', 'y']) backlog.add(keyId, 'retry', `retry ${keyId}`);
  expect(await lease(backlog)).toEqual([]);
  backlog.free('a', 'retry');
  const [first] = backlog.turns();
  // Another process has leased it.
  if (first) await backlog.take(first).then(() => backlog.end(first, []));
  expect(await lease(backlog)).toEqual([['retry y']]);
});

it.each([['first', 10] as const, ['retry', 7] as const])(
  'endpoints that lease at the same time share the free slots of the lane %s',
  async (lane, mostOfAll) => {
    const { backlog } = stored(0, 0, { perEndpoint: 5, pool: 10 });
    for (const keyId of 'abc')
      for (let n = 0; n < 5; n += 1) backlog.add(keyId, lane, `${lane} ${keyId}${n}`);
    const taken = (await lease(backlog)).flat();
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThanOrEqual(mostOfAll);
  },
);

it('attempts in flight never exceed the limits of each endpoint, of all endpoints, and of retries', async () => {
  const lane = fc.constantFrom('first' as const, 'retry' as const);
  const act = fc.constantFrom('add' as const, 'claim' as const, 'free' as const);
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), lane, act });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { backlog } = stored(0, 0, { perEndpoint: 3, pool: 4 });
      const taken: { key: string; lane: Lane }[] = [];
      for (const [n, { key, lane, act }] of steps.entries()) {
        const held = taken.findIndex((one) => one.key === key && one.lane === lane);
        if (act === 'add') backlog.add(key, lane, `${lane} ${n}`);
        else if (act === 'claim' && backlog.claim(key)) taken.push({ key, lane: 'first' });
        else if (act === 'free' && held >= 0) {
          backlog.free(key, lane);
          taken.splice(held, 1);
        }
        for (const turn of [...backlog.turns()]) {
          const leased = (await backlog.take(turn)).map((id) => ({
            key: turn.endpoint.keyId,
            lane: laneOf(id),
          }));
          backlog.end(turn, leased);
          taken.push(...leased);
        }
        for (const keyId of 'abcd') {
          const own = taken.filter((one) => one.key === keyId);
          expect(own.length).toBeLessThanOrEqual(3);
          expect(own.filter((one) => one.lane === 'retry').length).toBeLessThanOrEqual(2);
        }
        expect(taken.length).toBeLessThanOrEqual(4);
        expect(taken.filter((one) => one.lane === 'retry').length).toBeLessThanOrEqual(3);
      }
    }),
  );
});
