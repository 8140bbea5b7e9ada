import { randomBytes } from 'node:crypto';
import cookie from '@fastify/cookie';
import { expect } from 'vitest';
import type { ClaimName } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { createDirectory } from '../../server/partners/directory.ts';
import { createPartnersStores } from '../../server/partners/store.ts';
import type { AuditEntry } from '../../server/platform/audit-entry.ts';
import type { EventDraft } from '../../server/platform/event-draft.ts';
import { acceptForms } from '../../server/platform/http/parameters.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { randomId, randomSecret, sha256 } from '../../server/platform/ids.ts';
import { loadKeyring } from '../../server/platform/keyring.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { createRequestLimits } from '../../server/platform/request-limits.ts';
import { createSealing } from '../../server/platform/sealing.ts';
import { createVerification } from '../../server/verification/feature.ts';
import type { Traces } from '../../server/verification/people/erasure.ts';
import { createVerificationStores } from '../../server/verification/store.ts';
import { preparedDatabase } from '../harness/database.ts';
import { lossyDatabase } from '../platform/database/lossy.ts';

export const baseUrl = 'https://verify.example';
export const redirectUri = 'https://shop.example/callback?tenant=a%2Fb';
export const state = 'st/ä&=+ %41-0123456789';

export type Hosted = Awaited<ReturnType<typeof startHosted>>;

/** The feature on a database of its own, behind its real HTTP scope, with a clock that tests move. */
export async function startHosted(
  settings: Pick<
    Parameters<typeof createVerification>[0],
    'imprint' | 'claimLifetimes' | 'startsPerMinute' | 'forms'
  > = {},
) {
  const database = await preparedDatabase({ keep: true });
  const logger = createLogger('silent');
  const keyring = await loadKeyring(database.db, createSealing([new Uint8Array(32)]));
  const records = createPartnersStores(database.db);
  const directory = createDirectory(records);
  const lossy = lossyDatabase(database.db);
  const stores = createVerificationStores(lossy.db, settings.forms);
  const clock = { at: Date.now(), now: () => clock.at };
  const published = new Map<string, EventDraft>();
  const usedCodes = new Set<string>();
  const integrated = new Set<string>();
  const outage = { publishing: false, refused: 0 };
  const erasedTraces: Traces[] = [];

  const verification = createVerification({
    customerHash: (customer) => JSON.stringify(customer),
    ...settings,
    stores,
    clock,
    keyring,
    directory,
    logger,
    baseUrl,
    async publish(drafts) {
      if (outage.publishing) {
        outage.refused += 1;
        throw new Error('no publishing now');
      }
      for (const draft of drafts) published.set([draft.type, ...draft.cause].join(), draft);
    },
    limit: createRequestLimits({ db: database.db, clock, key: keyring.id }),
    isCodeUsed: async ({ codeHash }) => usedCodes.has(codeHash),
    chargeOf: async ({ codeHash }) =>
      usedCodes.has(codeHash) ? { id: 'txn_1', at: new Date(clock.at) } : undefined,
    hasIntegration: async (clientId) => integrated.has(clientId),
    async eraseElsewhere(traces) {
      erasedTraces.push(traces);
      return { accesses: traces.codes.length, events: traces.subs.length };
    },
  });
  const app = createHttpServer({ logger, trustProxy: false });
  await app.register(
    async (scope) => {
      await scope.register(cookie);
      acceptForms(scope);
      await scope.register(verification.routes);
    },
    { prefix: '/verify' },
  );
  await app.register(verification.sessionQueryRoutes, { prefix: '/api/verify' });
  await app.ready();

  return {
    app,
    database,
    stores,
    records,
    directory,
    verification,
    keyring,
    clock,
    published,
    usedCodes,
    integrated,
    outage,
    /** What becomes of the next group writes of the stores. */
    losses: lossy.losses,
    erasedTraces,
    events: (type: EventDraft['type']) => [...published.values()].filter((draft) => draft.type === type),
    async close() {
      await app.close();
      await database.drop();
    },
  };
}

function entry(target: string): AuditEntry {
  const id = randomBytes(8).toString('hex');
  const who = { operatorId: 'opr_1', operatorName: 'tester', address: '127.0.0.1' };
  return { ...who, id, requestId: id, action: 'test.made', at: new Date(), target };
}

interface Wanted {
  mode?: Mode;
  kind?: 'oauth' | 'storefront';
  claims?: ClaimName[];
  privacyUrl?: string;
  redirectUris?: string[];
}

/** An active partner with a key and a client. */
export async function onboard({ records }: Pick<Hosted, 'records'>, wanted: Wanted = {}) {
  const { mode = 'test' } = wanted;
  const createdAt = new Date();
  const apiKey = randomSecret(mode === 'test' ? 'testKey' : 'liveKey');
  const partner = { _id: randomId('partner'), name: 'Weinhaus <Grün>', status: 'active' as const, createdAt };
  await records.partners.insert(partner, entry(partner._id));
  const key = {
    _id: randomId('apiKey'),
    partnerId: partner._id,
    mode,
    status: 'active' as const,
    hash: sha256(apiKey),
    last4: apiKey.slice(-4),
    webhookSecrets: 0,
    createdAt,
  };
  await records.keys.insert(key, entry(key._id));
  const owner = { partnerId: partner._id, keyId: key._id };
  const clientId = await addClient({ records }, owner, wanted);
  return { ...owner, clientId, apiKey };
}

/** One more client of a key. @returns its id */
export async function addClient(
  { records }: Pick<Hosted, 'records'>,
  { partnerId, keyId }: { partnerId: string; keyId: string },
  wanted: Wanted = {},
): Promise<string> {
  const { mode = 'test', kind = 'oauth', claims = ['age_18_plus', 'country'] } = wanted;
  const client = {
    _id: randomId('client'),
    partnerId,
    keyId,
    mode,
    kind,
    name: 'Shop',
    status: 'active' as const,
    secrets: [],
    redirectUris: wanted.redirectUris ?? [redirectUri],
    claims,
    ...(wanted.privacyUrl ? { privacyUrl: wanted.privacyUrl } : {}),
    createdAt: new Date(),
  };
  await records.clients.insert(client, entry(client._id));
  return client._id;
}

/** A well-formed query of `/verify/start`; `changes` replace parameters, undefined removes one. */
export function startQuery(clientId: string, changes: Record<string, string | undefined> = {}): string {
  const parameters: Record<string, string | undefined> = {
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    scope: 'age_18_plus shoe_size country age_18_plus',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** What the redirect to the partner carries, as the partner's framework would read it. */
export function returned(location: string): Record<string, string> {
  expect(location.startsWith(redirectUri)).toBe(true);
  return Object.fromEntries(new URL(location).searchParams);
}
