import { LRUCache } from 'lru-cache';
import type { Identity } from '../../../contracts/admin/operators.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReadDatabaseFault } from '../../platform/database/availability.ts';
import { isUnavailable } from '../../platform/database/connect.ts';
import { ApiError, unavailableRetryAfter } from '../../platform/errors.ts';
import { subscriberOf } from '../../platform/http/limits/client-network.ts';
import { minute, secondsUntilRollover, windowStart } from '../../platform/http/limits/windows.ts';
import { isWellFormedSecret, sameText, sha256 } from '../../platform/ids.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Operator, OperatorStore } from './operator-store.ts';

export interface AuthenticationDependencies {
  store: Pick<OperatorStore, 'findByHash' | 'touch'>;
  clock: Pick<Clock, 'now'>;
  /** The value of SVC_ADMIN_TOKEN, which identifies the first operator, an owner. Undefined if the token is retired. */
  firstToken: string | undefined;
  log: Pick<Logger, 'warn'>;
  databaseFault: ReadDatabaseFault;
}

/**
 * Returns the operator that an `Authorization` header identifies, for a call of a procedure or page (`path`).
 * @throws ApiError `operator_unknown` or `rate_limited`; `service_unavailable` or the database's error if the database is away
 */
export type Authenticate = (
  authorization: string | undefined,
  call: { address: string; path: string },
) => Promise<Identity>;

/**
 * Procedures and pages that help while the database is away. They are open to operators that this process remembers.
 * All other calls read the operator from the database each time.
 */
const fromMemory: ReadonlySet<string> = new Set([
  'status',
  'operators.whoami',
  'operators.roles',
  'sources.list',
  '/ops',
  '/metrics',
]);
/** The time for which a valid token is remembered, in milliseconds. The time covers a work shift. */
const rememberedMs = 12 * 3_600_000;

/** The operator who signs in with SVC_ADMIN_TOKEN. No record is kept of this one. */
export const firstOperator: Identity = {
  id: 'opr_first',
  name: 'SVC_ADMIN_TOKEN',
  role: 'owner',
  expiresAt: null,
};
/**
 * The most wrong tokens in a minute from one subscriber, which is an IPv4 address or an IPv6 /64. More get a 429.
 * A valid token always passes.
 */
const wrongTokensPerMinute = 10;

/** Returns the error for a wrong token. If the token is another credential, such as an API key, the error says so. */
function unknownOperator(token = ''): ApiError {
  const description = describeMistake('The bearer token', token, 'operatorToken');
  return new ApiError('operator_unknown', {
    headers: { 'www-authenticate': 'Bearer' },
    ...(description && { description }),
  });
}

const expired = (at: Date): ApiError =>
  new ApiError('operator_unknown', {
    headers: { 'www-authenticate': 'Bearer' },
    description: `This operator token expired at ${at.toISOString()}; an owner makes another by: svcadmin operators create`,
  });

export function createAuthentication(dependencies: AuthenticationDependencies): Authenticate {
  const { store, clock, firstToken, log, databaseFault } = dependencies;
  const firstHash = firstToken === undefined ? undefined : sha256(firstToken);
  /** How many wrong tokens each subscriber has sent, by minute. */
  const failures = new LRUCache<string, number>({ max: 10_000 });

  /** Counts a wrong token. @throws ApiError `rate_limited` if the subscriber has sent too many in the current minute */
  function countFailure(subscriber: string): void {
    const now = clock.now();
    const thisMinute = windowStart(now, minute);
    const key = `${thisMinute} ${subscriber}`;
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    if (count <= wrongTokensPerMinute) return;
    const retryAfter = secondsUntilRollover(thisMinute, minute, now);
    throw new ApiError('rate_limited', { description: 'Too many wrong operator tokens', retryAfter });
  }

  /** Stores when an operator called last. It is stored at most once a minute, so that most calls write nothing. */
  function noteUse(id: string, lastUsedAt: Date | undefined): void {
    const now = clock.now();
    if (lastUsedAt && now - lastUsedAt.getTime() < minute) return;
    store.touch(id, new Date(now)).catch((err: unknown) => log.warn({ err, id }, 'last use was not noted'));
  }

  /** The operators that this process has authenticated, by the hash of their token. */
  const remembered = new LRUCache<string, Operator>({ max: 1_000, ttl: rememberedMs });

  /** Reads the operator of a token from the database. Remembers an active one for the time when the database is away. */
  async function readOperator(hash: string): Promise<Operator | undefined> {
    const operator = await store.findByHash(hash);
    if (operator?.status === 'active') remembered.set(hash, operator);
    else remembered.delete(hash);
    return operator;
  }

  /**
   * Reads the operator from the database. If the database is away, returns the operator that this process remembers.
   * @throws ApiError `service_unavailable` if the process does not remember the token
   */
  async function readOrRecall(hash: string): Promise<Operator | undefined> {
    try {
      // If the fault is known already, a read would only wait for its timeout.
      if (!databaseFault()) return await readOperator(hash);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    const recalled = remembered.get(hash);
    if (recalled) return recalled;
    throw new ApiError('service_unavailable', {
      retryAfter: unavailableRetryAfter,
      description:
        'The database is away, and this process has not met your token lately; SVC_ADMIN_TOKEN is known without it',
    });
  }

  async function identify(token: string, path: string): Promise<Identity | undefined> {
    const hash = sha256(token);
    if (firstHash !== undefined && sameText(hash, firstHash)) return firstOperator;
    // A token with a wrong form or checksum is refused without a look-up.
    if (!isWellFormedSecret('operatorToken', token)) return undefined;
    const operator = fromMemory.has(path) ? await readOrRecall(hash) : await readOperator(hash);
    if (operator?.status !== 'active') return undefined;
    const { _id: id, name, role, expiresAt } = operator;
    // The sender has the token, so its expiry may be disclosed to them.
    if (expiresAt && expiresAt.getTime() <= clock.now()) throw expired(expiresAt);
    if (!databaseFault()) noteUse(id, operator.lastUsedAt);
    return { id, name, role, expiresAt: expiresAt?.toISOString() ?? null };
  }

  return async (authorization, { address, path }) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) throw unknownOperator();
    const operator = await identify(token, path);
    if (operator) return operator;
    countFailure(subscriberOf(address));
    throw unknownOperator(token);
  };
}
