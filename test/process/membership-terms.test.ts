import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../server/platform/config/config.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { createMembership } from '../../server/process/membership.ts';

/** A membership whose dependencies the test sets. `did` lists its calls, such as changes to the list of processes. */
async function membership(env: Record<string, string> = {}) {
  const did: string[] = [];
  const state = { stopping: false, outdated: undefined as string | undefined, trusted: true };
  const { listen, join, sweep, leave } = createMembership({
    config: readConfig({ SVC_DATA_DIR: '/nowhere', SVC_PEER_ADDRESS: '127.0.0.1:0', ...env }),
    client: { options: { hosts: [] } } as never,
    clock: { trusted: () => state.trusted },
    background: { read: async () => [], wakeWithin: () => () => undefined, begin: () => undefined },
    processes: {
      join: async (address) => void did.push(`join ${address}`),
      resign: async () => void did.push('resign'),
    },
    billing: {
      handOver: {
        refresh: async () => void did.push('refresh'),
        routes: async () => undefined,
      } as never,
    },
    logger: createLogger('silent'),
    isStopping: () => state.stopping,
    outdated: () => state.outdated,
    serve: async (app, { host, port }) => {
      await (await app).close();
      did.push(`listen at ${host}:${port}`);
      return 'http://127.0.0.1:7000';
    },
  });
  await listen();
  await join();
  onTestFinished(leave);
  return { did, state, sweep, leave };
}

/** Runs a sweep. Returns the calls that it makes. */
async function swept({ did, sweep }: Awaited<ReturnType<typeof membership>>): Promise<string[]> {
  did.length = 0;
  await sweep();
  return [...did];
}

describe('a process to which other processes can hand charges over', () => {
  it('announces its address at the start and in each sweep, and withdraws it when it stops', async () => {
    const one = await membership();
    expect(one.did).toEqual(['listen at 127.0.0.1:0', 'join 127.0.0.1:7000', 'refresh']);
    expect(await swept(one)).toEqual(['join 127.0.0.1:7000', 'refresh']);
    await one.leave();
    expect(one.did.at(-1)).toBe('resign');
  });

  it('does not announce its address while it stops, but still refreshes its list of other processes', async () => {
    const one = await membership();
    one.state.stopping = true;
    expect(await swept(one)).toEqual(['refresh']);
  });

  it('does not announce its address after another process has finished an upgrade', async () => {
    const one = await membership();
    one.state.outdated = 'a newer build';
    expect(await swept(one)).toEqual(['refresh']);
  });

  it('does not announce its address while its clock is not trusted, and does so again afterwards', async () => {
    const one = await membership();
    one.state.trusted = false;
    expect(await swept(one)).toEqual(['refresh']);
    one.state.trusted = true;
    expect(await swept(one)).toEqual(['join 127.0.0.1:7000', 'refresh']);
  });

  it('announces a reachable address of the machine if SVC_PEER_ADDRESS is 0.0.0.0', async () => {
    const one = await membership({ SVC_PEER_ADDRESS: '0.0.0.0:8084', SVC_PEER_ALLOW_PUBLIC: 'on' });
    expect(one.did).toEqual([
      'listen at 0.0.0.0:8084',
      expect.stringMatching(/^join (?!0\.0\.0\.0)/),
      'refresh',
    ]);
  });

  it('does not announce its address without the role api', async () => {
    const one = await membership({ SVC_ROLES: 'worker' });
    expect(one.did).toEqual(['refresh']);
  });
});
