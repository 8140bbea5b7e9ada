import { expect, it } from 'vitest';
import { createRecorder } from '../../../server/operations/service-status/recorder.ts';
import { createServiceHourStore } from '../../../server/operations/service-status/service-hour-store.ts';
import { freshDatabase } from '../../harness/database.ts';
import { manualClock } from '../../harness/server.ts';

const minute = 60_000;
const begin = Date.parse('2026-03-04T10:28:00Z');

async function createRecords() {
  const { db } = await freshDatabase();
  const store = createServiceHourStore(db);
  const clock = manualClock(begin);
  let away = false;
  const add: typeof store.add = (at, addition) =>
    away ? Promise.reject(new Error('the database is away')) : store.add(at, addition);
  const recorder = (servesApi = true) => createRecorder({ store: { add }, clock, servesApi });
  return {
    ...{ clock, recorder, read: () => store.read(0) },
    setAway: (value: boolean) => {
      away = value;
    },
  };
}

it('the availability of each minute is stored once in the record of its hour, for all processes together', async () => {
  const { clock, recorder, read } = await createRecords();
  const [one, other, worker] = [recorder(), recorder(), recorder(false)];
  for (const ready of [true, true, false, true]) {
    await one.record(ready);
    await one.record(ready);
    await worker.record(true);
    clock.advance(minute);
  }
  await other.record(true);
  clock.advance(60 * minute);
  await other.record(true);
  const [first, second, ...rest] = await read();
  expect(rest).toEqual([]);
  expect(first).toMatchObject({ _id: '2026-03-04T10:00:00.000Z', early: 0b11 << 28, late: 0b110 });
  expect(second).toMatchObject({ _id: '2026-03-04T11:00:00.000Z', early: 0, late: 0b100 });
  expect(first?.purgeAt).toEqual(new Date(Date.parse('2026-03-04T10:00:00Z') + 91 * 24 * 60 * minute));
});

it('counts that arrive during a write are written by the next call, so that a call under load ends', async () => {
  const written: number[] = [];
  const recorder = createRecorder({
    store: {
      async add(_at, { webhooks }) {
        written.push(webhooks);
        // A later write would also see a count arrive. The limit ends a call that goes on without an end.
        if (written.length < 10) recorder.countAttempt('delivered', 'live');
      },
    },
    clock: manualClock(begin),
    servesApi: true,
  });
  recorder.countAttempt('delivered', 'live');
  await recorder.flush();
  expect(written).toEqual([1]);
  await recorder.flush();
  expect(written).toEqual([1, 1]);
});

it('delivery counts that could not be written are written later, to the record of the hour in which they were counted', async () => {
  const { clock, recorder, read, setAway } = await createRecords();
  const one = recorder();
  setAway(true);
  one.countAttempt('delivered', 'live');
  one.countAttempt('timeout', 'live');
  one.countAttempt('delivered', 'test');
  await expect(one.record(false)).rejects.toThrow('away');
  clock.advance(60 * minute);
  one.countAttempt('delivered', 'live');
  await expect(one.record(false)).rejects.toThrow('away');
  setAway(false);
  await one.record(false);
  await one.flush();
  expect(await read()).toEqual([
    expect.objectContaining({
      _id: '2026-03-04T10:00:00.000Z',
      webhooks: 2,
      webhooksTaken: 1,
      early: 0,
      late: 0,
    }),
    expect.objectContaining({ _id: '2026-03-04T11:00:00.000Z', webhooks: 1, webhooksTaken: 1 }),
  ]);
});

it('delivery counts that could not be written are kept in memory for 48 hours at most', async () => {
  const { clock, recorder, read, setAway } = await createRecords();
  const one = recorder();
  setAway(true);
  for (let n = 0; n < 60; n += 1) {
    one.countAttempt('delivered', 'live');
    clock.advance(60 * minute);
  }
  setAway(false);
  await one.flush();
  expect(await read()).toHaveLength(48);
});
