import { EventEmitter } from 'node:events';
import type { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';
import { watchAvailability } from '../../../server/platform/database/availability.ts';

it('a fault of the database has the latest reason, the time at which it began, and ends with a writable server', () => {
  const client = new EventEmitter();
  let now = 1_000;
  const fault = watchAvailability(client as unknown as MongoClient, () => now);
  const change = (server: object) =>
    client.emit('topologyDescriptionChanged', { newDescription: { servers: new Map([['db:1', server]]) } });
  expect(fault()).toBeUndefined();
  change({ address: 'db:1', error: new Error('refused') });
  now = 5_000;
  change({ address: 'db:1' });
  expect(fault()).toEqual({ reason: 'no member is primary', since: new Date(1_000) });
  change({ address: 'db:1', isWritable: true });
  expect(fault()).toBeUndefined();
  change({ address: 'db:1', error: new Error('reset') });
  expect(fault()).toEqual({ reason: 'db:1: reset', since: new Date(5_000) });
});
