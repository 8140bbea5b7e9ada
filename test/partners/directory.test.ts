import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectory } from '../../server/partners/directory/directory.ts';
import { createDirectoryCache } from '../../server/partners/directory/directory-cache.ts';
import { createPartnersStores } from '../../server/partners/store.ts';
import { createPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

describe('the cache of partner records', () => {
  /** Creates a directory cache whose reads end when the test answers them. */
  function slowMemory() {
    const answers: ((value: number | undefined) => void)[] = [];
    let uptime = 0;
    const cache = createDirectoryCache<number>(
      () => new Promise((resolve) => answers.push(resolve)),
      () => uptime,
    );
    const wait = (ms: number) => {
      uptime += ms;
    };
    return { answers, cache, wait };
  }

  function memory() {
    const source = new Map([['a', 1]]);
    let [uptime, loads] = [0, 0];
    const cache = createDirectoryCache<number>(
      async (id) => {
        loads += 1;
        return source.get(id);
      },
      () => uptime,
    );
    const wait = (ms: number) => {
      uptime += ms;
    };
    return { source, cache, wait, loads: () => loads };
  }

  it('returns a stored entry without a read until it is invalidated, for 2 s at most', async () => {
    const { source, cache, wait, loads } = memory();
    expect(await cache.read('a', false)).toBe(1);
    source.set('a', 2);
    wait(1_999);
    expect(await cache.read('a', false)).toBe(1);
    expect(loads()).toBe(1);
    cache.forget('b');
    expect(await cache.read('a', false)).toBe(1);
    cache.forget('a');
    expect(await cache.read('a', false)).toBe(2);
    source.set('a', 3);
    wait(2_000);
    expect(await cache.read('a', false)).toBe(3);
  });

  it('measures the age of an entry from the start of its read', async () => {
    const { answers, cache, wait } = slowMemory();
    const slow = cache.read('a', false);
    wait(1_000);
    answers[0]?.(1);
    await slow;
    wait(1_000);
    const next = cache.read('a', false);
    answers[1]?.(2);
    expect(await next).toBe(2);
  });

  it('stores the result of the newer of two reads, even if the older read ends later', async () => {
    const { answers, cache, wait } = slowMemory();
    const slow = cache.read('a', false);
    wait(100);
    const quick = cache.read('a', true);
    answers[1]?.(2);
    answers[0]?.(1);
    expect(await Promise.all([slow, quick])).toEqual([1, 2]);
    expect(await cache.read('a', false)).toBe(2);
  });

  it('reads a missing record again each time, so that a new record is found at once', async () => {
    const { source, cache } = memory();
    expect(await cache.read('b', false)).toBeUndefined();
    source.set('b', 3);
    expect(await cache.read('b', false)).toBe(3);
  });

  it('reads the database again if its caller asks for a fresh entry, and stores the result', async () => {
    const { source, cache } = memory();
    await cache.read('a', false);
    source.set('a', 2);
    expect(await cache.read('a', true)).toBe(2);
    expect(await cache.read('a', false)).toBe(2);
    source.delete('a');
    expect(await cache.read('a', true)).toBeUndefined();
    expect(await cache.read('a', false)).toBeUndefined();
  });

  it('does not keep the result of a read if its id was invalidated during the read', async () => {
    const { answers, cache } = slowMemory();
    const slow = cache.read('a', false);
    cache.forget('a');
    answers[0]?.(1);
    expect(await slow).toBe(1);
    const next = cache.read('a', false);
    answers[1]?.(2);
    expect(await next).toBe(2);
  });
});

describe('the directory of partners in a process', () => {
  const elsewherePorts = { clock: { now: Date.now }, onSecretUsed: () => undefined };
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it('returns a key as revoked after another process revoked it, and its partner as suspended on a fresh read', async () => {
    const elsewhere = createDirectory({ ...elsewherePorts, stores: createPartnersStores(server.db) });
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

  it('has the new status of a client 2 s after another process disabled it', async () => {
    let uptime = 0;
    const elsewhere = createDirectory({
      ...elsewherePorts,
      stores: createPartnersStores(server.db),
      uptime: () => uptime,
    });
    const { clientId } = await createPartner(server);
    const status = async () => (await elsewhere.client(clientId))?.client.status;
    expect(await status()).toBe('active');
    await server.admin.clients.disable.mutate({ clientId });
    uptime = 1_999;
    expect(await status()).toBe('active');
    uptime = 2_000;
    expect(await status()).toBe('disabled');
  });

  it('returns undefined for an unknown id or API key', async () => {
    const { directory } = server.services.partners;
    expect(await directory.client('cli_none')).toBeUndefined();
    expect(await directory.partner('ptr_none')).toBeUndefined();
    expect(await directory.apiKey('key_none')).toBeUndefined();
    expect(await directory.apiKeyBySecret('svc_test_')).toBeUndefined();
  });
});
