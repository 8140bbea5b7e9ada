import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { MongoBulkWriteError } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { connect, isDuplicateKey, isUnavailable } from '../../../server/platform/database/connect.ts';
import { insertEach, insertMissing } from '../../../server/platform/database/write-groups.ts';
import { freshDatabase } from '../../harness/database.ts';

interface Row {
  _id: string;
}

/** A separate connection. `end` closes all its sockets, as a crashed database process does. */
async function breakable() {
  const sockets: Socket[] = [];
  const note = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  const { uri } = await freshDatabase();
  subscribe('net.client.socket', note);
  const { client, db, features } = await connect({ uri, embedded: false, appName: 'test' });
  unsubscribe('net.client.socket', note);
  onTestFinished(() => client.close());
  const rows = db.collection<Row>('rows');
  await rows.insertOne({ _id: 'one' });
  return { rows, features, end: () => sockets.forEach((socket) => void socket.destroy()) };
}

type Rows = Awaited<ReturnType<typeof breakable>>['rows'];
const commands: [string, 'read' | 'write', (rows: Rows) => Promise<unknown>][] = [
  ['findOne', 'read', (rows) => rows.findOne()],
  ['insertMany', 'write', (rows) => rows.insertMany([{ _id: 'two' }])],
  ['updateOne', 'write', (rows) => rows.updateOne({ _id: 'one' }, { $set: { _id: 'one' } })],
];

it.each(commands)(
  '%s (a %s) on a closed database connection is sent again if a repetition is safe, and otherwise fails as unavailable',
  async (_name, kind, command) => {
    const { rows, features, end } = await breakable();
    end();
    const outcome = await command(rows).then(
      () => 'done',
      (error: unknown) => (isUnavailable(error) ? 'unavailable' : error),
    );
    // The driver repeats a read. It repeats a write only if the deployment can recognise the repetition.
    expect(outcome).toBe(kind === 'read' || features.retryableWrites ? 'done' : 'unavailable');
    expect(await rows.findOne({ _id: 'one' })).toEqual({ _id: 'one' });
  },
);

it('insertMany throws an error of unavailability if the connection ends, and a duplicate key error for a duplicate', async () => {
  const { rows, end } = await breakable();
  const refused: unknown = await rows.insertMany([{ _id: 'one' }]).catch((error: unknown) => error);
  expect([isDuplicateKey(refused), isUnavailable(refused)]).toEqual([true, false]);
  end();
  const broken: unknown = await rows.insertMany([{ _id: 'two' }]).catch((error: unknown) => error);
  expect(broken).toBeInstanceOf(MongoBulkWriteError);
  expect([isDuplicateKey(broken), isUnavailable(broken)]).toEqual([false, true]);
});

it('insertMissing sends its documents again on another connection after a lost reply', async () => {
  const { rows, end } = await breakable();
  end();
  await insertMissing(rows, [{ _id: 'one' }, { _id: 'two' }]);
  expect(await rows.countDocuments()).toBe(2);
});

it('insertMissing throws if the server refuses a document with another error than a duplicate key', async () => {
  const { rows } = await breakable();
  const refused = { _id: ['three'] as unknown as string };
  await expect(insertMissing(rows, [refused])).rejects.toThrow();
});

it('insertEach sends its documents again on another connection after a lost reply', async () => {
  const { rows, end } = await breakable();
  end();
  expect(await insertEach(rows, [{ _id: 'one' }, { _id: 'two' }])).toEqual(['exists', 'inserted']);
  expect(await rows.countDocuments()).toBe(2);
});
