import type { Identity } from '../../contracts/admin/operators.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { subscriberOf } from '../platform/http/client-network.ts';
import { isWellFormedSecret, sameText, sha256 } from '../platform/ids.ts';
import type { Logger } from '../platform/logging.ts';
import { minute, secondsUntilRollover, windowStart } from '../platform/windows.ts';
import type { OperatorStore } from './operator-store.ts';

interface Dependencies {
  store: Pick<OperatorStore, 'findByHash' | 'touch'>;
  clock: Pick<Clock, 'now'>;
  /** SVC_ADMIN_TOKEN: the first operator, an owner; undefined where that token is retired. */
  firstToken: string | undefined;
  log: Pick<Logger, 'warn'>;
}

/** Who the bearer of an `Authorization` header is. @throws ApiError `operator_unknown`, `rate_limited` */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Identity>;

export const firstOperator: Identity = { id: 'opr_first', name: 'SVC_ADMIN_TOKEN', role: 'owner' };
/** Wrong tokens a minute and subscriber before the answer is 429. A right one always passes. */
const wrongTokensPerMinute = 10;

const unknownOperator = () => new ApiError('operator_unknown', { headers: { 'www-authenticate': 'Bearer' } });

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

export function createAuthentication({ store, clock, firstToken, log }: Dependencies): Authenticate {
  const firstHash = firstToken === undefined ? undefined : sha256(firstToken);
  const countFailure = createFailureCount(clock);

  function touch(id: string, lastUsedAt: Date | undefined): void {
    const now = clock.now();
    if (lastUsedAt && now - lastUsedAt.getTime() < minute) return;
    store.touch(id, new Date(now)).catch((err: unknown) => log.warn({ err, id }, 'last use was not noted'));
  }

  async function identify(token: string): Promise<Identity | undefined> {
    const hash = sha256(token);
    if (firstHash !== undefined && sameText(hash, firstHash)) return firstOperator;
    if (!isWellFormedSecret('operatorToken', token)) return undefined;
    const operator = await store.findByHash(hash);
    if (operator?.status !== 'active') return undefined;
    if (operator.expiresAt && operator.expiresAt.getTime() <= clock.now()) return undefined;
    touch(operator._id, operator.lastUsedAt);
    return { id: operator._id, name: operator.name, role: operator.role };
  }

  return async (authorization, address) => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw unknownOperator();
    const operator = await identify(token);
    if (operator) return operator;
    const { count, retryAfter } = countFailure(subscriberOf(address));
    if (count > wrongTokensPerMinute) {
      throw new ApiError('rate_limited', { description: 'Too many wrong operator tokens', retryAfter });
    }
    throw unknownOperator();
  };
}
