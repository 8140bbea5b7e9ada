import { LRUCache } from 'lru-cache';
import type { Identity } from '../../contracts/admin/operators.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError } from '../platform/errors.ts';
import { subscriberOf } from '../platform/http/client-network.ts';
import { minute, secondsUntilRollover, windowStart } from '../platform/http/windows.ts';
import { isWellFormedSecret, sameText, sha256 } from '../platform/ids.ts';
import { wrongKind } from '../platform/keys/credential-kinds.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { Operator, OperatorStore } from './operator-store.ts';

interface Dependencies {
  store: Pick<OperatorStore, 'findByHash' | 'touch'>;
  clock: Pick<Clock, 'now'>;
  /** SVC_ADMIN_TOKEN: the first operator, an owner; undefined where that token is retired. */
  firstToken: string | undefined;
  log: Pick<Logger, 'warn'>;
  databaseFault: ReadDatabaseFault;
}

/**
 * Who the bearer of an `Authorization` header is, for a call of this procedure or page.
 * @throws ApiError `operator_unknown`, `rate_limited`; where the database is away, `service_unavailable` or its error
 */
export type Authenticate = (
  authorization: string | undefined,
  call: { address: string; path: string },
) => Promise<Identity>;

/**
 * What needs nothing of the database, and helps while it is away: it is answered to operators whom this process knows.
 * Everything else asks the database for the operator each time.
 */
const fromMemory: ReadonlySet<string> = new Set([
  'status',
  'operators.whoami',
  'operators.roles',
  'sources.list',
  '/ops',
  '/metrics',
]);
/** Milliseconds for which a token that was right is known without the database: a shift. */
const rememberedMs = 12 * 3_600_000;

export const firstOperator: Identity = {
  id: 'opr_first',
  name: 'SVC_ADMIN_TOKEN',
  role: 'owner',
  expiresAt: null,
};
/** Wrong tokens a minute and subscriber before the answer is 429. A right one always passes. */
const wrongTokensPerMinute = 10;

function unknownOperator(token = ''): ApiError {
  const description = wrongKind('The bearer token', token, 'operatorToken');
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

/** Counts failures of each subscriber in the current minute; forgets them all with the minute. */
function createFailureCount(clock: Pick<Clock, 'now'>) {
  let window = 0;
  let failures = new Map<string, number>();
  return (subscriber: string): { count: number; retryAfter: number } => {
    const now = clock.now();
    const current = windowStart(now, minute);
    if (current !== window) {
      window = current;
      failures = new Map();
    }
    const count = (failures.get(subscriber) ?? 0) + 1;
    failures.set(subscriber, count);
    return { count, retryAfter: secondsUntilRollover(current, minute, now) };
  };
}

export function createAuthentication({
  store,
  clock,
  firstToken,
  log,
  databaseFault,
}: Dependencies): Authenticate {
  const firstHash = firstToken === undefined ? undefined : sha256(firstToken);
  const countFailure = createFailureCount(clock);

  function touch(id: string, lastUsedAt: Date | undefined): void {
    const now = clock.now();
    if (lastUsedAt && now - lastUsedAt.getTime() < minute) return;
    store.touch(id, new Date(now)).catch((err: unknown) => log.warn({ err, id }, 'last use was not noted'));
  }

  /** Operators by the hash of their token. */
  const remembered = new LRUCache<string, Operator>({ max: 1_000, ttl: rememberedMs });

  async function find(hash: string): Promise<Operator | undefined> {
    const operator = await store.findByHash(hash);
    if (operator?.status === 'active') remembered.set(hash, operator);
    else remembered.delete(hash);
    return operator;
  }

  /** The operator as this process knows them, where the database cannot say. */
  async function recall(hash: string): Promise<Operator | undefined> {
    const known = remembered.get(hash);
    if (known && databaseFault()) return known;
    try {
      if (!databaseFault()) return await find(hash);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (known) return known;
    }
    throw new ApiError('service_unavailable', {
      retryAfter: 5,
      description:
        'The database is away, and this process has not met your token lately; SVC_ADMIN_TOKEN is known without it',
    });
  }

  async function identify(token: string, path: string): Promise<Identity | undefined> {
    const hash = sha256(token);
    if (firstHash !== undefined && sameText(hash, firstHash)) return firstOperator;
    if (!isWellFormedSecret('operatorToken', token)) return undefined;
    const operator = fromMemory.has(path) ? await recall(hash) : await find(hash);
    if (operator?.status !== 'active') return undefined;
    const { _id: id, name, role, expiresAt } = operator;
    // The bearer has the token: when it expired is no secret to them.
    if (expiresAt && expiresAt.getTime() <= clock.now()) throw expired(expiresAt);
    if (!databaseFault()) touch(id, operator.lastUsedAt);
    return { id, name, role, expiresAt: expiresAt?.toISOString() ?? null };
  }

  return async (authorization, { address, path }) => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw unknownOperator();
    const operator = await identify(token, path);
    if (operator) return operator;
    const { count, retryAfter } = countFailure(subscriberOf(address));
    if (count > wrongTokensPerMinute) {
      throw new ApiError('rate_limited', { description: 'Too many wrong operator tokens', retryAfter });
    }
    throw unknownOperator(token);
  };
}
