import { onTestFinished } from 'vitest';
import type { Mode } from '../../../contracts/identifiers.ts';
import { type LedgerPage, walletIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { randomId } from '../../../server/platform/ids.ts';
import type { TestServer } from '../../harness/server.ts';

const terms = {
  claims: {},
  meta: { claims_requested: [], claims_resolved: [], claims_null: [], claims_ignored: [] },
  clientId: 'cli_0000000000000000000000',
  keyId: 'key_0000000000000000000000',
  sessionId: 'ses_0000000000000000000000',
  enrollmentId: 'enr_0000000000000000000000',
  sub: 'sub-1',
  returning: false,
  scope: '',
};

/** A charge of 0.50 USD in a new wallet, whose ledger is deleted when the test ends. @returns its id */
export async function chargedEntry({ db }: TestServer, partnerId: string, mode: Mode): Promise<string> {
  const walletId = walletIdOf(partnerId, mode);
  const store = createLedgerStore(db);
  const opened = await store.head(walletId);
  if (!opened) throw new Error(`no wallet ${walletId}`);
  const id = randomId('entry');
  const head = { ...opened, state: { ...opened.state, balance: 50 }, asOf: 0 };
  const grant = { terms: { ...terms, partnerId, mode }, lifetimeSeconds: 3_600 };
  const { page } = draftPage(head, [{ walletId, id, kind: 'token', amount: -50, grant }], Date.now());
  await store.insert([page]);
  onTestFinished(async () => {
    await db.collection<LedgerPage>('ledger').deleteMany({ walletId, n: { $gt: 0 } });
  });
  return id;
}
