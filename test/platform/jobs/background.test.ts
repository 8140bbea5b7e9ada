import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Sweep } from '../../../server/platform/database/event-draft.ts';
import { anyOf } from '../../../server/platform/database/reads/joint-reads.ts';
import { createBackground } from '../../../server/platform/jobs/background.ts';
import { createSweeper } from '../../../server/platform/jobs/sweeper.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { connectAgain, preparedDatabase } from '../../harness/database.ts';

const logger = createLogger('silent');

describe('work that a process repeats', () => {
  it('waits no longer than allowed, and begins as soon as other work begins', async () => {
    const { db } = await preparedDatabase();
    const { wakeWithin, begin } = createBackground(db);
    const woken: string[] = [];
    wakeWithin(60_000, () => woken.push('patient'));
    const cancel = wakeWithin(60_000, () => woken.push('cancelled'));
    cancel();
    expect(woken).toEqual([]);
    begin();
    expect(woken).toEqual(['patient']);
    wakeWithin(60_000, () => woken.push('taken along'));
    wakeWithin(1, () => woken.push('due'));
    await sleep(20);
    expect(woken).toEqual(['patient', 'taken along', 'due']);
  });

  it('reads in one command what begins together', async () => {
    const { db } = await preparedDatabase();
    const observed = await connectAgain(db);
    const commands: string[] = [];
    const { command } = observed.db;
    observed.db.command = (document) => {
      commands.push(String(Object.keys(document)[0]));
      return command.call(observed.db, document);
    };
    const background = createBackground(observed.db);
    const looksAt = (collection: string): Sweep => ({
      name: collection,
      look: () => ({ reads: [anyOf(collection, { _id: 'x' })] }),
      sweep: async () => void commands.push(`sweep of ${collection}`),
    });
    const sweepers = ['users', 'jobs'].map((name) => createSweeper([looksAt(name)], { background, logger }));
    await Promise.all(sweepers.map(({ sweep }) => sweep()));
    expect(commands).toEqual(['aggregate']);
    await db.collection<{ _id: string }>('jobs').insertOne({ _id: 'x' });
    await Promise.all(sweepers.map(({ sweep }) => sweep()));
    expect(commands).toEqual(['aggregate', 'aggregate', 'sweep of jobs']);
    await observed.client.close();
  });

  it('begins no further sweep after a stop, which waits for the present one', async () => {
    const { db } = await preparedDatabase();
    const ran: string[] = [];
    let end = () => {};
    const first = new Promise<void>((resolve) => {
      end = resolve;
    });
    const sweeper = createSweeper(
      [
        { name: 'slow', sweep: () => first.then(() => void ran.push('slow')) },
        { name: 'next', sweep: async () => void ran.push('next') },
      ],
      { background: createBackground(db), logger },
    );
    void sweeper.start();
    await sleep(1);
    const stopped = sweeper.stop();
    end();
    await stopped;
    expect(ran).toEqual(['slow']);
  });

  it('runs a sweep whose look fails, and one without a look', async () => {
    const { db } = await preparedDatabase();
    const background = createBackground(db);
    const ran: string[] = [];
    const run = (name: string) => async () => void ran.push(name);
    const failing = () => ({ reads: [anyOf('users', { $nonsense: 1 })] });
    await createSweeper(
      [
        { name: 'failing', look: failing, sweep: run('failing') },
        { name: 'without', sweep: run('without') },
      ],
      { background, logger },
    ).sweep();
    expect(ran).toEqual(['failing', 'without']);
  });
});
