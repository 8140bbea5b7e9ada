import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { isKeyringRead } from '../harness/statements.ts';

let server: TestServer;
let partner: TestPartner;
let sessionId = '';
let sent: Document[] = [];
beforeAll(async () => {
  server = await startTestServer({ onCommand: ({ command }) => sent.push(command) });
  partner = await createPartner(server);
  await exchangeCode(server, partner, await completeSession(server, partner));
  const [session] = (await server.admin.sessions.list.query({})).rows;
  sessionId = session?.id ?? '';
});
afterAll(() => server.stop());

const since = new Date(Date.now() - 86_400_000).toISOString();
const until = new Date().toISOString();

/** Returns every stage of a query plan, including stages of look-ups and shards. */
function stagesOf(plan: unknown): string[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const own = 'stage' in plan && typeof plan.stage === 'string' ? [plan.stage] : [];
  return [...own, ...Object.values(plan).flatMap(stagesOf)];
}

/** Makes a call, and returns its read commands without the fields that the driver added. */
async function readsOf(call: () => Promise<unknown>): Promise<Document[]> {
  sent = [];
  await call();
  return sent
    .filter((command) => !isKeyringRead(command) && ('find' in command || 'aggregate' in command))
    .map((command) => {
      const names = [
        ...['find', 'aggregate', 'filter', 'pipeline', 'sort', 'hint', 'limit', 'skip', 'projection'],
      ];
      const kept = names.flatMap((name) => (name in command ? [[name, command[name]] as const] : []));
      return { ...Object.fromEntries(kept), ...('aggregate' in command ? { cursor: {} } : {}) };
    });
}

const calls: Record<string, (admin: TestServer['admin']) => Promise<unknown>> = {
  'sessions list': (admin) => admin.sessions.list.query({ since }),
  'sessions list --partner': (admin) =>
    admin.sessions.list.query({ partnerId: partner.partnerId, status: 'failed', since, until }),
  'sessions list --client --after': (admin) =>
    admin.sessions.list.query({ clientId: partner.clientId, status: 'expired', after: sessionId }),
  'sessions list --reference': (admin) =>
    admin.sessions.list.query({ clientReferenceId: 'order-17', partnerId: partner.partnerId }),
  'requests list': (admin) => admin.requests.list.query({ status: '4xx', path: '/api' }),
  'requests list --partner': (admin) =>
    admin.requests.list.query({ partnerId: partner.partnerId, error: 'invalid_grant' }),
  'requests list --session': (admin) => admin.requests.list.query({ sessionId }),
  'requests refused': (admin) => admin.requests.refused.query({ since }),
  'requests refused --partner': (admin) =>
    admin.requests.refused.query({ since, partnerId: partner.partnerId }),
  'partners list --search NAME': (admin) => admin.partners.search.query({ text: 'acme' }),
  'partners list --search LAST4': (admin) => admin.partners.search.query({ text: 'aB3d' }),
  'partners list --search ID': (admin) => admin.partners.search.query({ text: 'cli_abc' }),
  'users find': (admin) => admin.users.find.query({ of: sessionId }),
  'users find SUB': (admin) => admin.users.find.query({ of: 'x'.repeat(43) }),
  'users find --customer': (admin) =>
    admin.users.find.query({ customer: { clientId: partner.clientId, shop: 'a.example', customerId: '1' } }),
  'wallets list': (admin) => admin.wallets.list.query({ limit: 5 }),
  'wallets list --below': (admin) => admin.wallets.list.query({ mode: 'test', below: 100_000 }),
  'wallets list --days-left': (admin) => admin.wallets.list.query({ daysLeft: 3_650 }),
  'audit-log list of support': (admin) => admin.auditLog.list.query({ actor: 'opr_first' }),
};

/** Searches that may sort in memory, because one session or one user has few rows. */
const few = ['requests list --session', 'users find'];

describe('a search of the admin API', () => {
  it.each(Object.keys(calls))(
    'uses an index for %s, never scans a collection, and sorts only small results in memory',
    async (name) => {
      const reads = await readsOf(() => calls[name]?.(server.admin) ?? Promise.resolve());
      expect(reads.length).toBeGreaterThan(0);
      for (const read of reads) {
        const explained = await server.db.command({ explain: read, verbosity: 'queryPlanner' });
        const stages = stagesOf(explained);
        expect(stages.length, JSON.stringify(explained)).toBeGreaterThan(0);
        expect(stages, JSON.stringify(read)).not.toContain('COLLSCAN');
        if (!few.includes(name))
          expect(stages, `sorted in memory: ${JSON.stringify(read)}`).not.toContain('SORT');
      }
    },
  );
});
