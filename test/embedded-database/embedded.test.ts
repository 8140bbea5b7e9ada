import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../embedded-database/embedded.ts';
import { engineProgram } from '../../embedded-database/engine/child.ts';
import { connect } from '../../server/platform/database/connect.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const timeLimit = { timeout: within(20_000), interval: 25 };

const newDataDir = () => temporaryFolder('embedded');

const start = async (dataDir: string, program?: string): Promise<EmbeddedDatabase> => {
  const database = await startEmbedded({ dataDir, logger: silent, ...(program ? { program } : {}) });
  onTestFinished(() => database.stop());
  return database;
};

const open = async ({ uri }: { uri: string }) => {
  const { client, db } = await connect({ uri, embedded: true, appName: 'test' });
  onTestFinished(() => client.close());
  return db.collection('things');
};

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

const kill = (database: EmbeddedDatabase): number => {
  const pid = database.pid() ?? Number.NaN;
  process.kill(pid, 'SIGKILL');
  return pid;
};

/** Starts a separate server process with an embedded database, which a test can kill. */
const startInAnotherProcess = async (dataDir: string) => {
  const compiled = pathToFileURL(join(engineProgram, '../../embedded.js')).href;
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(compiled)});
    const logger = { info() {}, warn() {}, error() {} };
    const { uri, pid } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, logger });
    console.log(JSON.stringify({ uri, pid: pid() }));`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const line = await new Promise<string>((said) =>
    server.stdout.once('data', (chunk) => said(String(chunk))),
  );
  return { server, ...(JSON.parse(line) as { uri: string; pid: number }) };
};

afterEach(() => vi.unstubAllEnvs());

describe('startEmbedded', () => {
  it('writes its address to a file that only its owner can read, and deletes that file at stop', async () => {
    const dataDir = newDataDir();
    const database = await start(dataDir);
    const file = join(dataDir, 'mongodb-uri');
    expect(readFileSync(file, 'utf8').trim()).toBe(database.uri);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { client } = await connect({ uri: database.uri, embedded: false, appName: 'second' });
    await client.close();
    await database.stop();
    expect(existsSync(file)).toBe(false);
  });

  it('ends the database process at stop, and finds the data at the next start', async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await (await open(first)).insertOne({ name: 'kept' });
    const pid = first.pid();
    await first.stop();
    expect(isAlive(pid)).toBe(false);
    expect(await (await open(await start(dataDir))).distinct('name')).toEqual(['kept']);
  });

  it('restarts a killed database process on the same port, with every acknowledged write', async () => {
    const database = await start(newDataDir());
    const things = await open(database);
    for (let n = 0; n < 50; n += 1) await things.insertOne({ n });
    const killed = kill(database);
    await vi.waitFor(async () => expect(await things.countDocuments()).toBe(50), timeLimit);
    expect(database.pid()).not.toBe(killed);
    await things.insertOne({ n: 50 });
  });

  it('restarts a database process that is killed five times, without a lost write', async () => {
    const database = await start(newDataDir());
    const things = await open(database);
    for (let round = 1; round <= 5; round += 1) {
      await vi.waitFor(() => things.insertOne({ round }), timeLimit);
      const killed = kill(database);
      await vi.waitFor(() => expect([killed, undefined]).not.toContain(database.pid()), timeLimit);
    }
    expect(await things.countDocuments()).toBe(5);
  });

  it('ends with no database process left if it is stopped just after its database process was killed', async () => {
    const database = await start(newDataDir());
    kill(database);
    await database.stop();
    expect(isAlive(database.pid())).toBe(false);
  });
});

describe('startEmbedded in a directory that another process uses', () => {
  it('throws an error with the id of the other process and the MONGODB_URI to share its database', async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    const second = startEmbedded({ dataDir, logger: silent });
    await expect(second).rejects.toThrow(`is in use by process ${process.pid}`);
    await expect(second).rejects.toThrow(`MONGODB_URI=${first.uri}`);
    await (await open(first)).insertOne({ still: 'here' });
  });

  it('waits until the database process of a killed server has ended, and then starts', async () => {
    const dataDir = newDataDir();
    const { server, pid } = await startInAnotherProcess(dataDir);
    server.kill('SIGKILL');
    const database = await start(dataDir);
    expect(database.pid()).not.toBe(pid);
  });
});

describe('a killed server with an embedded database', () => {
  it('leaves no database process running and loses no acknowledged write', async () => {
    const dataDir = newDataDir();
    const { server, uri, pid } = await startInAnotherProcess(dataDir);
    await (await open({ uri })).insertOne({ name: 'journaled' });
    server.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), timeLimit);
    expect(await (await open(await start(dataDir))).distinct('name')).toEqual(['journaled']);
  });
});

describe('startEmbedded on a machine that cannot run the engine', () => {
  const withoutEngine = (): string => {
    const program = join(newDataDir(), 'mongod.mjs');
    writeFileSync(program, 'process.exit(50);');
    return program;
  };

  it('starts the MongoDB server that mongodb-memory-server finds; documents are still there after it is killed', async () => {
    const mongod = fileURLToPath(new URL('../harness/mongod', import.meta.url));
    vi.stubEnv('MONGOMS_SYSTEM_BINARY', process.env['MONGOMS_SYSTEM_BINARY'] ?? mongod);
    vi.stubEnv('MONGOMS_SYSTEM_BINARY_VERSION_CHECK', 'false');
    const dataDir = newDataDir();
    const database = await start(dataDir, withoutEngine());
    const things = await open(database);
    await things.insertOne({ name: 'kept' });
    kill(database);
    await vi.waitFor(async () => expect(await things.distinct('name')).toEqual(['kept']), timeLimit);
  });

  it('throws one sentence that names MONGODB_URI if there is no MongoDB server either', async () => {
    const dataDir = newDataDir();
    vi.stubEnv('MONGOMS_SYSTEM_BINARY', '');
    vi.stubEnv('MONGOMS_DOWNLOAD_DIR', dataDir);
    vi.stubEnv('MONGOMS_DOWNLOAD_MIRROR', 'http://127.0.0.1:1');
    await expect(startEmbedded({ dataDir, logger: silent, program: withoutEngine() })).rejects.toThrow(
      /^[^.]*set MONGODB_URI[^.]*\.$/,
    );
  });
});
