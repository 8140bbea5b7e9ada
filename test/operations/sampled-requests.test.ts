import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '../cli/svcadmin.ts';
import { createPartner, post, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';

/** More failures than one flush of the log writes. */
const flood = 203;
let server: TestServer;
let svcadmin: CommandLine;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ replacements: { pace: { requestsEvery: 3_600_000 } } });
  svcadmin = await commandLine(server.adminUrl);
  partner = await createPartner(server);
});
afterAll(() => server.stop());

const refuse = () => post(`${server.baseUrl}/api/oauth/token`, { client_id: partner.clientId });
const since = () => new Date(Date.now() - 3_600_000).toISOString();

it('counts of the log of requests are exact while no request is dropped', async () => {
  await refuse();
  await server.services.admin.flush();
  expect(await server.admin.requests.count.query({})).toMatchObject({ exact: true, sampledSince: null });
  expect((await server.admin.requests.list.query({})).sampledSince).toBeNull();
  expect((await svcadmin.run(['requests', 'list', '--count'])).stdout).not.toContain('about');
});

describe('after requests were dropped from the log,', () => {
  beforeAll(async () => {
    await server.services.admin.flush();
    await Promise.all(Array.from({ length: flood }, refuse));
    await server.services.admin.flush();
  });

  it('the mark has how many of which kind', async () => {
    const [gap] = await server.db.collection('requestGaps').find().toArray();
    expect(gap).toMatchObject({ failures: 3, successes: 0 });
  });

  it('every procedure that counts them says since when it is a sample', async () => {
    const { requests, wallets } = server.admin;
    const [gap] = await server.db.collection<{ _id: string }>('requestGaps').find().toArray();
    const sampledSince = gap?._id;
    expect(await requests.count.query({})).toMatchObject({ sampledSince });
    expect(await requests.list.query({ status: '4xx' })).toMatchObject({ sampledSince });
    // The log has all successes.
    expect(await requests.list.query({ status: '2xx' })).toMatchObject({ sampledSince: null });
    // The span ends before the requests were dropped.
    expect(await requests.list.query({ until: since() })).toMatchObject({ sampledSince: null });
    const { rows } = await requests.refused.query({ since: since() });
    expect(rows[0]).toMatchObject({ sampledSince });
    expect((await wallets.list.query({}))[0]).toMatchObject({ unpaidSampledSince: sampledSince });
  });

  it('svcadmin and /ops say so', async () => {
    const sampled = /sampled since \d{4}-\d\d-\d\d/;
    expect((await svcadmin.run(['requests', 'list', '--count'])).stdout).toMatch(/^about \d+, sampled since/);
    expect((await svcadmin.run(['requests', 'list', '--limit', '5'])).stderr).toMatch(/5 of about .*sampled/);
    const groups = await svcadmin.run(['requests', 'list', '--by', 'status']);
    expect(groups.stderr).toMatch(/^about \d+ records in .*sampled since/);
    expect(await svcadmin.json('requests', 'list', '--by', 'status')).toEqual([
      expect.objectContaining({ sampledSince: expect.any(String) }),
    ]);
    for (const command of ['requests list --where status=400', 'requests refused', 'wallets list'])
      expect((await svcadmin.run(command.split(' '))).stderr).toMatch(sampled);
    const page = await fetch(`${server.adminUrl}/ops`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    expect(await page.text()).toMatch(sampled);
  });
});
