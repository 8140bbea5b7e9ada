import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../server/partners/client-store.ts';
import { createDirectory } from '../../server/partners/directory.ts';
import { createDirectoryCache } from '../../server/partners/directory-cache.ts';
import type { Partner } from '../../server/partners/partner-store.ts';
import { createPartnersStores } from '../../server/partners/store.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

describe('the directory cache', () => {
  function memory() {
    const source = new Map([['a', 1]]);
    let [uptime, loads] = [0, 0];
    const kept = createDirectoryCache<number>(
      async (id) => {
        loads += 1;
        return source.get(id);
      },
      { uptime: () => uptime },
    );
    const wait = (ms: number) => {
      uptime += ms;
    };
    return { source, kept, wait, loads: () => loads };
  }

  it('keeps what it found for 2 s', async () => {
    const { source, kept, wait, loads } = memory();
    expect(await kept.read('a', false)).toBe(1);
    source.set('a', 2);
    wait(999);
    expect(await kept.read('a', false)).toBe(1);
    expect(loads()).toBe(1);
    wait(1001);
    expect(await kept.read('a', false)).toBe(2);
    expect(loads()).toBe(2);
  });

  it('refreshes an entry in use before it expires, without a wait for its reader', async () => {
    const { source, kept, wait, loads } = memory();
    await kept.read('a', false);
    source.set('a', 2);
    wait(1000);
    expect(await Promise.all([kept.read('a', false), kept.read('a', false)])).toEqual([1, 1]);
    expect(loads()).toBe(2);
    wait(999);
    expect(await kept.read('a', false)).toBe(2);
    source.delete('a');
    wait(1);
    await kept.read('a', false);
    expect(await kept.read('a', false)).toBeUndefined();
  });

  it('refreshes by the other function, and reads for a caller by the first one', async () => {
    let uptime = 0;
    const asked: string[] = [];
    const load = (name: string) => async (id: string) => {
      asked.push(`${name} ${id}`);
      return 1;
    };
    const kept = createDirectoryCache(load('load'), { refresh: load('refresh'), uptime: () => uptime });
    await kept.read('a', false);
    uptime = 1_000;
    await kept.read('a', false);
    await kept.read('a', true);
    expect(asked).toEqual(['load a', 'refresh a', 'load a']);
  });

  it('is forgotten in time where reading it early fails', async () => {
    let broken = false;
    let uptime = 0;
    const kept = createDirectoryCache<number>(
      () => (broken ? Promise.reject(new Error('database away')) : Promise.resolve(1)),
      { uptime: () => uptime },
    );
    await kept.read('a', false);
    broken = true;
    uptime = 1999;
    expect(await kept.read('a', false)).toBe(1);
    uptime = 2000;
    await expect(kept.read('a', false)).rejects.toThrow('away');
  });

  /** One whose reads end when they are told to. */
  function slowMemory() {
    const answers: ((value: number) => void)[] = [];
    let uptime = 0;
    const kept = createDirectoryCache<number>(() => new Promise((resolve) => answers.push(resolve)), {
      uptime: () => uptime,
    });
    const wait = (ms: number) => {
      uptime += ms;
    };
    return { answers, kept, wait };
  }

  it('counts its age from when reading it began', async () => {
    const { answers, kept, wait } = slowMemory();
    const slow = kept.read('a', false);
    wait(1000);
    answers[0]?.(1);
    await slow;
    wait(1000);
    const next = kept.read('a', false);
    answers[1]?.(2);
    expect(await next).toBe(2);
  });

  it('does not take an answer that was long under way for a newer one', async () => {
    const { answers, kept, wait } = slowMemory();
    const slow = kept.read('a', false);
    wait(100);
    const quick = kept.read('a', true);
    answers[1]?.(2);
    answers[0]?.(1);
    expect(await Promise.all([slow, quick])).toEqual([1, 2]);
    expect(await kept.read('a', false)).toBe(2);
  });

  it('never keeps that it found nothing', async () => {
    const { source, kept } = memory();
    expect(await kept.read('b', false)).toBeUndefined();
    source.set('b', 3);
    expect(await kept.read('b', false)).toBe(3);
  });

  it('reads again when asked for a fresh answer, and keeps that one', async () => {
    const { source, kept } = memory();
    await kept.read('a', false);
    source.set('a', 2);
    expect(await kept.read('a', true)).toBe(2);
    expect(await kept.read('a', false)).toBe(2);
    source.delete('a');
    expect(await kept.read('a', true)).toBeUndefined();
    expect(await kept.read('a', false)).toBeUndefined();
  });

  it('does not keep a read that was under way while its id was forgotten', async () => {
    const { answers, kept } = slowMemory();
    const slow = kept.read('a', false);
    kept.forget('a');
    answers[0]?.(1);
    expect(await slow).toBe(1);
    const next = kept.read('a', false);
    answers[1]?.(2);
    expect(await next).toBe(2);
  });
});

describe('a directory', () => {
  it('refreshes the clients of a quarter of a second by one read', async () => {
    const reads: (readonly string[])[] = [];
    const clients = {
      findAll: async (ids: readonly string[]) => {
        reads.push(ids);
        return ids.map((_id) => ({ _id, partnerId: 'ptr_1' }) as Client);
      },
    };
    const partners = { findAll: async (ids: readonly string[]) => ids.map((_id) => ({ _id }) as Partner) };
    const keys = { findAll: async () => [], findByHashes: async () => [], statuses: async () => [] };
    const directory = createDirectory({ clients, partners, keys });
    for (const id of ['cli_1', 'cli_2', 'cli_3']) await directory.client(id);
    expect(reads).toEqual([['cli_1'], ['cli_2'], ['cli_3']]);
    await sleep(1_050);
    for (const id of ['cli_1', 'cli_2', 'cli_3']) await directory.client(id);
    expect(reads).toHaveLength(3);
    await expect.poll(() => reads.slice(3)).toEqual([['cli_1', 'cli_2', 'cli_3']]);
  });
});

describe('the directory of another process', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it('sees a revoked key at once, and a suspended partner by a fresh read', async () => {
    const elsewhere = createDirectory(createPartnersStores(server.db));
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId });
    const { id: keyId, apiKey } = await server.admin.keys.create.mutate({ partnerId });
    expect(await elsewhere.partner(partnerId)).toMatchObject({ status: 'active' });
    expect(await elsewhere.apiKeyBySecret(apiKey)).toMatchObject({ status: 'active' });
    await server.admin.keys.revoke.mutate({ keyId });
    await server.admin.partners.suspend.mutate({ partnerId });
    expect(await elsewhere.apiKeyBySecret(apiKey)).toMatchObject({ status: 'revoked' });
    expect(await elsewhere.partner(partnerId, { fresh: true })).toMatchObject({ status: 'suspended' });
  });

  it('finds nothing for what does not exist', async () => {
    const { directory } = server.services.partners;
    expect(await directory.client('cli_none')).toBeUndefined();
    expect(await directory.partner('ptr_none')).toBeUndefined();
    expect(await directory.apiKey('key_none')).toBeUndefined();
    expect(await directory.apiKeyBySecret('svc_test_')).toBeUndefined();
  });
});
