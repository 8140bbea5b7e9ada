import type { LowBalance } from '../../../contracts/admin/warnings.ts';
import { decimal } from '../../../contracts/amounts.ts';
import { ownerOfWallet, walletIdOf } from '../../billing/ledger/ledger-page.ts';
import { daysLeftOf } from '../../billing/wallets/wallet-list.ts';
import { type WalletSummary, wasFunded } from '../../billing/wallets/wallet-summary-store.ts';
import { type ApiKey, pauseAt } from '../../partners/keys/key-store.ts';
import type { Partner } from '../../partners/partner-store.ts';
import { evaluateHour, type HourFault } from '../../webhooks/operators/endpoints/hour-of-attempts.ts';
import type { Stores } from '../stores.ts';
import type { Condition } from './warning.ts';
import type { WarningSource } from './watch.ts';

const [hour, day] = [3_600_000, 86_400_000];
/** A live balance is low if it is used up within this number of days, unless the partner has another threshold. */
export const defaultLowDays = 7;
const mostEndpointsPerCheck = 200;
/** A warning is raised about an old secret that expires within this time, in milliseconds. */
export const expiringWithinMs = day;
/** It is raised only if the secret was used within this time, because a partner that uses the new one has nothing to do. */
const stillUsedWithinMs = day;

const minuteOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Whether a partner must be warned of its balance. A wallet that was never funded is not in use yet. */
function isLow(wallet: WalletSummary, threshold: LowBalance, now: number): boolean {
  if (!wasFunded(wallet) || threshold === 'off') return false;
  const { balance, endsAt } = wallet;
  if ('cents' in threshold) return balance < threshold.cents;
  return endsAt !== undefined && endsAt.getTime() < now + threshold.days * day;
}

function lowBalanceCondition(summary: WalletSummary): Condition {
  const days = daysLeftOf(summary);
  const left = days === null ? '' : `, enough for ${days} days`;
  return {
    kind: 'low_balance',
    ...ownerOfWallet(summary._id),
    about: summary.mode,
    afterMs: 0,
    text: `The ${summary.mode} wallet has $${decimal(summary.balance)} left${left}. Once it is empty, exchanges are refused with 402`,
  };
}

function failingEndpointCondition(key: ApiKey, { since: deadSince, answers }: HourFault): Condition {
  const { _id: about, partnerId, mode } = key;
  const endpoint = { kind: 'endpoint_failing', partnerId, mode, about } as const;
  const lastAnswers = `The last answers: ${answers.join(', ')}`;
  if (deadSince) {
    const text = `Nothing was delivered to the webhook URL of ${about} since ${minuteOf(deadSince)}. ${lastAnswers}`;
    // The endpoint has failed for an hour already.
    return { ...endpoint, text, afterMs: 0 };
  }
  const text = `Less than half of the attempts were delivered to the webhook URL of ${about}. ${lastAnswers}`;
  return { ...endpoint, text, afterMs: hour };
}

/** Makes the functions that find the problems of partners that warnings are about. They read the stores of several features. */
export function createWarningSources(stores: Stores, clock: { now(): number }): WarningSource[] {
  const { summaries } = stores.wallets;
  const { partners, keys } = stores.partners;

  async function onlyOfActivePartners(conditions: readonly Condition[]): Promise<Condition[]> {
    const ids = [...new Set(conditions.map(({ partnerId }) => partnerId))];
    const found = await partners.findAll(ids);
    const active = new Set(found.flatMap((one) => (one?.status === 'active' ? one._id : [])));
    return conditions.filter(({ partnerId }) => active.has(partnerId));
  }

  /** Finds low balances of live wallets. Test wallets are left out, because they hold no real money. */
  async function findLowBalances(): Promise<Condition[]> {
    const now = clock.now();
    const partnersWithThreshold: Partner[] = await partners.withLowBalance();
    const thresholds = new Map(
      partnersWithThreshold.map(({ _id, warnings }) => [walletIdOf(_id, 'live'), warnings?.lowBalance]),
    );
    const [lowByDefault, withThreshold] = await Promise.all([
      summaries.endingBefore(['live'], new Date(now + defaultLowDays * day)),
      summaries.findAll([...thresholds.keys()]),
    ]);
    const isLowByThreshold = (wallet: WalletSummary) => {
      const threshold = thresholds.get(wallet._id);
      return threshold !== undefined && isLow(wallet, threshold, now);
    };
    // The default threshold does not count for partners that have one of their own.
    const low = [
      ...lowByDefault.filter(({ _id }) => !thresholds.has(_id)),
      ...withThreshold.filter(isLowByThreshold),
    ];
    return low.map(lowBalanceCondition);
  }

  async function findReachedCaps(): Promise<Condition[]> {
    const found = await summaries.capped(new Date(clock.now()));
    return found.flatMap(({ _id, capped }) => {
      if (!capped) return [];
      const { partnerId, mode } = ownerOfWallet(_id);
      const { bucket, limit } = capped;
      const text = `The ${mode} spend cap of ${limit} a ${bucket} is reached. Exchanges over it are refused with 429; support can raise it`;
      return { kind: 'cap_reached' as const, partnerId, mode, about: mode, text, afterMs: 0 };
    });
  }

  async function findFailingEndpoints(): Promise<Condition[]> {
    const now = new Date(clock.now());
    const owners = await stores.webhooks.health.troubled(now, { limit: mostEndpointsPerCheck });
    const found = await keys.findAll(owners.map(({ keyId }) => keyId));
    const conditions: Condition[] = [];
    for (const key of found) {
      const isPaused = key !== undefined && pauseAt(now.getTime(), key) !== undefined;
      if (!key?.webhook || key.status !== 'active' || isPaused) continue;
      const fault = evaluateHour(await stores.webhooks.health.attempts(key._id, now), now.getTime());
      if (fault) conditions.push(failingEndpointCondition(key, fault));
    }
    return conditions;
  }

  async function findExpiringSecrets(): Promise<Condition[]> {
    const now = clock.now();
    const [from, to] = [new Date(now), new Date(now + expiringWithinMs)];
    const usedSince = new Date(now - stillUsedWithinMs);
    const found = await stores.warnings.expiringSecrets.findExpiring({ from, to, usedSince });
    return found.map(({ owner, partnerId, mode, last4, expiresAt }) => ({
      kind: 'secret_expiring',
      partnerId,
      mode,
      about: owner,
      afterMs: 0,
      text: `The old secret …${last4} of ${owner} ends at ${minuteOf(expiresAt)}, and is still in use. Use the new one before then`,
    }));
  }

  const sources: WarningSource[] = [
    { kind: 'low_balance', find: findLowBalances },
    { kind: 'cap_reached', find: findReachedCaps },
    { kind: 'endpoint_failing', find: findFailingEndpoints },
    { kind: 'secret_expiring', find: findExpiringSecrets },
  ];
  return sources.map(({ kind, find }) => ({ kind, find: async () => onlyOfActivePartners(await find()) }));
}
