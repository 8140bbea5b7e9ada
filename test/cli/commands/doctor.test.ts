import { expect, it } from 'vitest';
import { checkAddresses, checkProcesses, checkShards } from '../../../cli/commands/doctor.ts';
import type { StatusView } from '../../../contracts/admin/status.ts';

const difference = { collection: 'ledger', expected: '{walletId: 1}', found: '{_id: hashed}' };

it('svcadmin doctor makes no sharding check if the database is not a sharded cluster', () => {
  expect(checkShards({ sharded: false, differences: [], unread: [] })).toEqual([]);
});

it('svcadmin doctor passes its sharding check if shard keys are as declared, and otherwise names each collection that differs', () => {
  expect(checkShards({ sharded: true, differences: [], unread: [] })).toEqual([
    { check: 'sharding', ok: true, found: 'as declared', fix: null },
  ]);
  const differences = [
    difference,
    { ...difference, collection: 'users', expected: '{_id: 1}', found: null },
    { ...difference, collection: 'meta', expected: null, found: 'on 2 shards' },
  ];
  expect(checkShards({ sharded: true, differences, unread: [] })).toEqual([
    {
      check: 'sharding',
      ok: false,
      found: [
        'ledger is sharded by {_id: hashed}, and should be sharded by {walletId: 1}',
        'users is not sharded, and should be sharded by {_id: 1}',
        'meta is on 2 shards, and should be unsharded',
      ].join('; '),
      fix: expect.stringContaining('docs/operations.md'),
    },
  ]);
});

it('svcadmin doctor still passes its sharding check if it may not read some data, and names that data and the missing role clusterMonitor', () => {
  const found = checkShards({ sharded: true, differences: [], unread: ['shard keys', 'shards of meta'] });
  expect(found.map(({ ok }) => ok)).toEqual([true, true]);
  expect(found.at(-1)).toMatchObject({
    found: expect.stringContaining('shard keys, shards of meta'),
    fix: expect.stringContaining('clusterMonitor'),
  });
  const [differing] = checkShards({ sharded: true, differences: [difference], unread: ['shard keys'] });
  expect(differing?.ok).toBe(false);
});

it('svcadmin doctor reports requests whose address is unreadable, and accepts erased addresses', () => {
  const sound = { address: '192.0.2.0/24' };
  expect(checkAddresses([sound, { address: null }])).toMatchObject({ ok: true, fix: null });
  expect(checkAddresses([])).toMatchObject({ ok: true });
  expect(checkAddresses([sound, { address: 'unknown' }])).toMatchObject({
    ok: false,
    found: '1 unreadable, of the last 2 requests',
    fix: expect.stringContaining('X-Forwarded-For'),
  });
});

it('svcadmin doctor advises to start a process where no one has a role, and knows nothing of processes while the database is away', () => {
  const since = '2026-07-01T00:00:00.000Z';
  expect(checkProcesses({ processes: [], missingRoles: [{ role: 'worker', since }] })).toMatchObject({
    ok: false,
    found: `no process with the role worker since ${since}`,
    fix: expect.stringContaining('SvcNoWorker'),
  });
  const away = { database: 'down', processes: null, missingRoles: null } as const;
  expect(checkProcesses(away)).toEqual({
    ...{ check: 'processes', ok: true, fix: null },
    found: 'not known while the database is away',
  });
});

it('svcadmin doctor names each setting that differs between processes, its values and their processes, and what to do', () => {
  const process = (pid: number) => ({ id: `id${pid}`, host: 'a', pid, roles: ['api'], ready: pid !== 5 });
  const processes = [1, 2, 3, 4, 5].map(process) as StatusView['processes'];
  const values = [
    { value: '50', processes: ['id1', 'id2', 'id3', 'id4'] },
    { value: '75', processes: ['id5'] },
  ];
  const differingSettings = [{ setting: 'SVC_PRICE_CENTS', values }];
  const found =
    'SVC_PRICE_CENTS differs between processes: 50 at a 1 (api), a 2 (api), a 3 (api) and 1 more; 75 at a 5 (api)';
  const remedy = 'give all processes the same SVC_PRICE_CENTS, then restart those that had another';
  const ready = processes?.map((one) => ({ ...one, ready: true })) ?? [];
  expect(checkProcesses({ processes: ready, missingRoles: [], differingSettings })).toEqual({
    ...{ check: 'processes', ok: false, found, fix: remedy },
  });
  const alsoIll = checkProcesses({ processes, missingRoles: [], differingSettings });
  expect(alsoIll.found).toContain(`${found}. a 5 (api) is not ready`);
  expect(alsoIll.fix).toMatch(new RegExp(`^${remedy}; look with svcadmin status`));
  // Servers of older builds do not report differences.
  expect(checkProcesses({ processes: ready, missingRoles: [] })).toMatchObject({ ok: true, fix: null });
});
