import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChangeWatch } from '../../server/partners/directory/change-watch.ts';
import { createDirectory } from '../../server/partners/directory/directory.ts';
import { createDirectoryCache } from '../../server/partners/directory/directory-cache.ts';
import { createPartnersStores } from '../../server/partners/store.ts';
import { createPartner, redirectUri } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';

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

  it('returns a stored entry without a read until it is invalidated, for 30 s at most', async () => {
    const { source, cache, wait, loads } = memory();
    expect(await cache.read('a', false)).toBe(1);
    source.set('a', 2);
    wait(29_999);
    expect(await cache.read('a', false)).toBe(1);
    expect(loads()).toBe(1);
    cache.forget('b');
    expect(await cache.read('a', false)).toBe(1);
    cache.forget('a');
    expect(await cache.read('a', false)).toBe(2);
    source.set('a', 3);
    cache.forget();
    expect(await cache.read('a', false)).toBe(3);
    source.set('a', 4);
    wait(30_000);
    expect(await cache.read('a', false)).toBe(4);
  });

  it('measures the age of an entry from the start of its read', async () => {
    const { answers, cache, wait } = slowMemory();
    const slow = cache.read('a', false);
    wait(15_000);
    answers[0]?.(1);
    await slow;
    wait(15_000);
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

describe('the poll for changes of partners and clients', () => {
  /**
   * A document of changes in memory, and the notifications of a watch on it. `all` means that any record may have
   * changed.
   */
  function watched(ids: readonly string[] = []) {
    const document = { version: ids.length, ids: [...ids] };
    const seen: string[] = [];
    let [uptime, reads, isAway] = [0, 0, false];
    const upToDate = createChangeWatch({
      async read() {
        reads += 1;
        if (isAway) throw new Error('database away');
        return structuredClone(document);
      },
      onChange: (id = 'all') => seen.push(id),
      uptime: () => uptime,
    });
    return {
      ...{ document, seen, upToDate },
      add(...added: string[]) {
        document.version += added.length;
        document.ids = [...document.ids, ...added].slice(-64);
      },
      wait(ms: number) {
        uptime += ms;
      },
      away(is: boolean) {
        isAway = is;
      },
      reads: () => reads,
    };
  }

  it('reports every record as changed at its first poll, and later only new changes', async () => {
    const { seen, upToDate, add, wait } = watched(['cli_1']);
    await upToDate();
    expect(seen).toEqual(['all']);
    add('cli_2', 'ptr_3');
    wait(2_000);
    await upToDate();
    expect(seen).toEqual(['all', 'cli_2', 'ptr_3']);
    wait(2_000);
    await upToDate();
    expect(seen).toHaveLength(3);
  });

  it('runs in the background one second after the last one; after two seconds, callers wait for it', async () => {
    const { seen, upToDate, add, wait, reads } = watched();
    await upToDate();
    add('cli_1');
    wait(999);
    await upToDate();
    expect(reads()).toBe(1);
    wait(1);
    await Promise.all([upToDate(), upToDate()]);
    expect(reads()).toBe(2);
    await expect.poll(() => seen).toEqual(['all', 'cli_1']);
    add('cli_2');
    wait(2_000);
    await Promise.all([upToDate(), upToDate()]);
    expect(reads()).toBe(3);
    expect(seen).toEqual(['all', 'cli_1', 'cli_2']);
  });

  it('reports every record as changed if the document of changes no longer has all ids', async () => {
    const { seen, upToDate, add, wait } = watched();
    await upToDate();
    add(...Array.from({ length: 65 }, (_, n) => `cli_${n}`));
    wait(2_000);
    await upToDate();
    expect(seen).toEqual(['all', 'all']);
  });

  it('reports every record as changed after a restore of the database has reduced the number of changes', async () => {
    const { document, seen, upToDate, wait } = watched(['cli_1', 'cli_2']);
    await upToDate();
    document.version = 1;
    wait(2_000);
    await upToDate();
    expect(seen).toEqual(['all', 'all']);
  });

  it('rejects its callers while the database is away, from two seconds after the last poll on', async () => {
    const { upToDate, wait, away } = watched();
    await upToDate();
    away(true);
    wait(1_999);
    await upToDate();
    await new Promise((resolve) => setImmediate(resolve));
    wait(1);
    await expect(upToDate()).rejects.toThrow('away');
    away(false);
    await upToDate();
  });
});

describe('the directory of partners in a process', () => {
  const elsewherePorts = { clock: { now: Date.now }, used: { apiKey: () => undefined } };
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

  it('has the new status of a client that another process disabled, without reading other clients again', async () => {
    const stores = createPartnersStores(server.db);
    const read: string[] = [];
    const clients: typeof stores.clients = {
      ...stores.clients,
      findAll(ids) {
        read.push(...ids);
        return stores.clients.findAll(ids);
      },
    };
    const elsewhere = createDirectory({ ...elsewherePorts, stores: { ...stores, clients } });
    const { partnerId, keyId } = await createPartner(server);
    const create = (name: string) =>
      server.admin.clients.create.mutate({
        partnerId,
        keyId,
        name,
        redirectUris: [redirectUri],
        claims: ['age_18_plus'],
      });
    const [changed, other] = [await create('one'), await create('other')];
    for (const { id } of [changed, other]) await elsewhere.client(id);
    await server.admin.clients.disable.mutate({ clientId: changed.id });
    const began = performance.now();
    await expect
      .poll(async () => (await elsewhere.client(changed.id))?.client.status, { timeout: within(10_000) })
      .toBe('disabled');
    expect((await elsewhere.client(other.id))?.client.status).toBe('active');
    if (performance.now() - began < 25_000) expect(read).toEqual([changed.id, other.id, changed.id]);
  });

  it('reads changes from one document: after 70 simultaneous changes, it counts all 70 and lists 64 ids', async () => {
    const { changes } = createPartnersStores(server.db);
    const before = await changes.read();
    await Promise.all(Array.from({ length: 70 }, (_, n) => changes.add(`cli_${n}`)));
    const { version, ids } = await changes.read();
    expect(version).toBe(before.version + 70);
    expect(ids).toHaveLength(64);
  });

  it('returns undefined for an unknown id or API key', async () => {
    const { directory } = server.services.partners;
    expect(await directory.client('cli_none')).toBeUndefined();
    expect(await directory.partner('ptr_none')).toBeUndefined();
    expect(await directory.apiKey('key_none')).toBeUndefined();
    expect(await directory.apiKeyBySecret('svc_test_')).toBeUndefined();
  });
});
