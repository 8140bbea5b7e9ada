import type { PagesContext } from '../../server/pages/context.ts';
import { createCompletion } from '../../server/pages/flow/complete.ts';
import { createVerify } from '../../server/pages/flow/verify.ts';
import { createSnapshots } from '../../server/people/enrollments/claims-snapshot.ts';
import { createEnrolling } from '../../server/people/enrollments/enroll.ts';
import { createFreshness, createHasFreshClaims } from '../../server/people/enrollments/freshness.ts';
import { createOutbox } from '../../server/people/enrollments/outbox.ts';
import { createSnapshotInvalidation } from '../../server/people/enrollments/snapshot-invalidation.ts';
import { createVerificationStores } from '../../server/people/store.ts';
import { createBlocking } from '../../server/people/users/blocking.ts';
import { masterKeysOf } from '../../server/platform/config/local-secrets.ts';
import { givenFields } from '../../server/platform/database/reads/look-through.ts';
import { randomId, sha256 } from '../../server/platform/ids.ts';
import { loadKeyring } from '../../server/platform/keys/keyring.ts';
import { createSealing } from '../../server/platform/keys/sealing.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { codeOf } from '../../server/sessions/code.ts';
import type { Session } from '../../server/sessions/session.ts';
import { stateHashOf } from '../../server/sessions/session-list-store.ts';
import { createSandbox } from '../../server/sessions/sources/sandbox.ts';
import { sourceSession } from '../../server/sessions/sources/session-source.ts';
import { applied, authenticated, consented, joined, verified } from '../../server/sessions/transitions.ts';
import { newStart } from '../journey/pkce.ts';
import type { Code, TestPartner } from './partner.ts';
import type { TestServer } from './server.ts';

type Server = Pick<TestServer, 'clock' | 'config' | 'db' | 'services'>;

/** The parts of the hosted flow behind its pages, on the server's database and with its keys. */
async function partsOf({ clock, config, db, services }: Server) {
  const logger = createLogger('silent');
  const stores = createVerificationStores(db);
  const { passkeys: passkeyStore, ...records } = stores;
  const keyring = await loadKeyring(db, createSealing(masterKeysOf(config)), clock);
  const hasFreshClaims = createHasFreshClaims(createFreshness(config.claimLifetimes), clock);
  const none = async () => undefined;
  // The other parts of the context matter for the pages, for operators and for erasures only.
  const context = {
    ...{ ...records, passkeyStore, keyring, clock, logger, hasFreshClaims },
    findSnapshot: createSnapshots(stores),
    publish: services.webhooks.publish,
  } as unknown as PagesContext;
  const enrolling = createEnrolling(context);
  const invalidate = createSnapshotInvalidation(context, none);
  const block = createBlocking(context, invalidate);
  return {
    sessions: stores.sessions,
    enrolling,
    keyring,
    hasFreshClaims,
    verify: createVerify(context, { enrolling, invalidate, block }),
    completion: createCompletion(context),
    outbox: createOutbox(context, enrolling),
  };
}

const partsOfServers = new WeakMap<object, ReturnType<typeof partsOf>>();

/** Loads the parts of a server once. Wrappers of a server share its services. */
function sharedPartsOf(server: Server): ReturnType<typeof partsOf> {
  const parts = partsOfServers.get(server.services) ?? partsOf(server);
  partsOfServers.set(server.services, parts);
  return parts;
}

const lifetimeMs = 1_800_000;
const sandbox = createSandbox();

/** Creates a session as `/verify/start` does. */
function startedSession(
  { partnerId, clientId, keyId, redirectUri }: TestPartner,
  request: { scope: string; state: string; codeChallenge: string },
  createdAt: Date,
): Session {
  return {
    _id: randomId('session'),
    ...{ partnerId, clientId, keyId, redirectUri },
    mode: 'test',
    source: 'sandbox',
    ...request,
    stateHash: stateHashOf(request.state),
    scope: request.scope.split(' '),
    status: 'pending',
    browserHash: sha256(''),
    timeline: [{ at: createdAt, event: 'started' }],
    outbox: [],
    createdAt,
    expiresAt: new Date(createdAt.getTime() + lifetimeMs),
  };
}

/**
 * Lets a sandbox user consent, authenticate and be verified. Stores the user.
 * @returns the transition from the start of the session to the verification
 */
async function pass(parts: Awaited<ReturnType<typeof partsOf>>, started: Session, person: string) {
  const { enrolling, hasFreshClaims, verify } = parts;
  const { source, browserHash, createdAt: at } = started;
  const outcome = await sandbox.authenticate?.(sourceSession(started), { person });
  if (outcome?.kind !== 'authenticated') throw new Error(`${person} has not authenticated`);
  const { result, carry: carried, rehearse } = outcome;
  const claims = result?.kind === 'verified' && !result.duplicate ? result.claims : undefined;
  const { user } = await enrolling.findOrCreateUser(started, outcome, claims);
  const ids = enrolling.idsOf(started, user._id);
  const authentication = authenticated(
    { ...ids, source, browserHash, ...givenFields({ rehearse }) },
    { carried, at },
  );
  const identified = joined(consented(at), authentication);
  const isVerified = hasFreshClaims(started, user) && !user.duplicate;
  const verification = isVerified
    ? verified('by the source', at)
    : await verify(applied({ session: started, transition: identified }), sandbox);
  if (verification.event) throw new Error(`the verification of ${person} fails`);
  return joined(identified, verification);
}

/**
 * Stores a session that a sandbox user has completed, with its user, enrollment and events, by the server's own stores.
 * It takes a part of the time of the hosted pages, which `verifyUser` walks.
 * @throws Error if the verification of this user fails
 * @returns the code that the partner would get
 */
export async function completeSession(
  server: Server,
  partner: TestPartner,
  person = 'adult',
  scope = 'age_18_plus identity_verified',
): Promise<Code & { sessionId: string }> {
  const parts = await sharedPartsOf(server);
  const { sessions, completion, outbox, keyring } = parts;
  const { codeVerifier, ...request } = newStart();
  const at = new Date(server.clock.now());
  const started = startedSession(partner, { ...request, scope }, at);
  const [passed] = await Promise.all([pass(parts, started, person), sessions.insert(started)]);
  const { transition, snapshot } = await completion.issueCode(
    applied({ session: started, transition: passed }),
  );
  const completed = await sessions.move(started, joined(passed, transition), at);
  if (!completed?.code) throw new Error(`the session of ${person} was not completed`);
  await outbox.finish(completed, snapshot);
  return { code: codeOf(keyring.code.current.bytes, started._id), codeVerifier, sessionId: started._id };
}
