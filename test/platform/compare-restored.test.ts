import { expect, it, onTestFinished } from 'vitest';
import { compareRestored } from '../../server/process/backup/comparison.ts';
import { renderLost } from '../../server/process/backup/lost-table.ts';
import { closeRestored } from '../../server/process/backup/restored.ts';
import { freshDatabase } from '../harness/database.ts';
import { createPartner } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';

/** Copies the database of a server, as a backup that is restored into another database. */
async function backUp(server: TestServer) {
  const restored = await freshDatabase();
  for (const { collectionName } of await server.db.collections()) {
    const documents = await server.db.collection(collectionName).find().toArray();
    if (documents.length > 0) await restored.db.collection(collectionName).insertMany(documents);
  }
  return restored;
}

it('the comparison with the old database lists each change and ledger entry since the backup, by partner', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const { admin } = server;
  const [one, other] = [await createPartner(server), await createPartner(server)];
  const { id: operatorId, token } = await admin.operators.create.mutate({ name: 'Kim', role: 'ops' });
  const restored = await backUp(server);
  const compare = () =>
    compareRestored({
      ...{ old: server.uri, restored: restored.uri, embedded: { old: true, restored: true } },
    });
  expect(await compare()).toEqual([]);
  expect(renderLost([])[0]).toContain('Nothing is missing');

  const wallet = { partnerId: one.partnerId, mode: 'test' as const };
  const { id } = await admin.wallets.fund.mutate({ ...wallet, amount: 7_000, reference: 'invoice 9' });
  await admin.partners.suspend.mutate({ partnerId: other.partnerId });
  await admin.webhooks.set.mutate({ keyId: one.keyId, url: 'https://new.example/hook' });
  await admin.prices.set.mutate({ partnerId: one.partnerId, kind: 'token', cents: 40 });
  await admin.limits.set.mutate({ ...wallet, perMinute: 9 });
  await admin.operators.revoke.mutate({ operatorId });
  const lost = await compare();
  const of = (partnerId: string | null) => lost.filter((row) => row.partnerId === partnerId);
  expect(of(one.partnerId).map(({ what }) => what)).toEqual(
    expect.arrayContaining(['funding', 'caps', 'wallets.fund', 'webhooks.set', 'prices.set', 'limits.set']),
  );
  expect(of(one.partnerId)).toContainEqual(
    expect.objectContaining({
      ...{ kind: 'entry', target: id, by: 'opr_first' },
      after: expect.objectContaining({ amount: 7_000, reference: 'invoice 9' }),
    }),
  );
  expect(of(other.partnerId)).toMatchObject([
    { kind: 'change', what: 'partners.suspend', after: { status: 'suspended' } },
  ]);
  expect(of(null)).toMatchObject([{ what: 'operators.revoke', target: operatorId }]);
  const table = renderLost(lost).join('\n');
  expect(table).toContain(one.partnerId);
  expect(table).toMatch(
    /funding +txn_\w+ +opr_first +wallet=.* amount=70.00 balanceAfter=\d+\.00 reference="invoice 9"/,
  );

  // The restore has brought the revoked operator back, and ends this token and all others.
  const masterKeys = [new Uint8Array(Buffer.alloc(32, 7))];
  const ended = await closeRestored({ uri: restored.uri, embedded: true, source: 'a test', masterKeys });
  expect(ended.operators).toBe(1);
  // A new process would hand its postings over to the old ones, whose heartbeats are fresh.
  expect(await restored.db.collection('processes').countDocuments()).toBe(0);
  const after = await startTestServer({ env: { MONGODB_URI: restored.uri } });
  onTestFinished(() => after.stop());
  expect(await refusal(after.as(token).status.query())).toBe('operator_unknown');
  // A funding that is entered again with its reference is missing no more.
  await after.admin.wallets.fund.mutate({ ...wallet, amount: 7_000, reference: 'invoice 9' });
  expect((await compare()).filter(({ target }) => target === id)).toEqual([]);
});
