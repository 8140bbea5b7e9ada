import { setTimeout as sleep } from 'node:timers/promises';
import { exchangeAll, type Outcome } from './clients.ts';
import { type Code, createCodes } from './codes.ts';
import { type Environment, type Servers, sweptAfterMs } from './environment.ts';
import { contentOf, type LedgerSnapshot, readSnapshot } from './ledger-snapshot.ts';
import { accessIdOf, checkMoney, type Expected, type MoneyFindings } from './money-findings.ts';
import { createPartner, operatorAt, type Partner, price, unlimited } from './partner.ts';
import { eventually, retry } from './retry.ts';

/** What limits the charges in a run: nothing, the balance, or the spend cap of the hour. */
export type Bound = 'none' | 'balance' | 'cap';

/** The partner, the codes and the first outcomes of a run with exchanges. */
export interface Scenario<Env extends Servers = Environment> {
  environment: Env;
  partner: Partner;
  bound: Bound;
  /** The codes for exchanges during and after the fault. */
  codes: Code[];
  later: Code[];
  /** The outcomes before the fault. */
  outcomes: Outcome[];
  /** The beginning of the hour in which the run started, in milliseconds. */
  hour: number;
}

/** Codes exchanged before, during and after the fault. */
const before = 2;
const during = 8;
const after = 2;
/** The number of charges that a limited wallet allows, so that the limit is reached during the fault. */
const mostBoundedCharges = 7;
/** The balance of a wallet without a limit, in cents. */
const plentyCents = 500_000;
const topUp = 5_000;
const otherPerMinute = unlimited - 1;
export const clientsForEachCode = 2;
const longestWait = 10_000;

const fundsOf = (bound: Bound): number => (bound === 'balance' ? mostBoundedCharges * price : plentyCents);
const hourOf = (time: number): number => time - (time % 3_600_000);
const snapshotOf = ({ environment, partner }: Pick<Scenario<Servers>, 'environment' | 'partner'>) =>
  retry(() => readSnapshot(environment.db, partner));

/**
 * Creates a partner with some exchanges, whose events are all published before a fault is armed.
 * @param accepts returns whether a wallet is suitable, as in `createPartner`
 */
export async function openScenario<Env extends Servers>(
  environment: Env,
  bound: Bound,
  accepts?: (walletId: string) => Promise<boolean>,
): Promise<Scenario<Env>> {
  const perHour = bound === 'cap' ? mostBoundedCharges : unlimited;
  const partner = await createPartner(environment, {
    ...{ funds: fundsOf(bound), perHour },
    ...(accepts && { accepts }),
  });
  const all = await createCodes(environment.db, partner, { count: before + during + after });
  const { publicUrls } = environment;
  const outcomes = await exchangeAll({ publicUrls, partner }, all.slice(0, before), {
    clients: clientsForEachCode,
    spread: 0,
  });
  const scenario = {
    ...{ environment, partner, bound, outcomes, hour: hourOf(Date.now()) },
    codes: all.slice(before, before + during),
    later: all.slice(before + during),
  };
  await eventually(
    async () => (await snapshotOf(scenario)).pages.every(({ unpublished }) => !unpublished),
    longestWait,
  );
  return scenario;
}

/**
 * Sends operators' commands during the exchanges. Each is sent twice and repeated until it is answered. A funding and a
 * refund must be applied once. A balance that the run must use up is not funded.
 */
export async function operate({ environment, partner, bound, outcomes }: Scenario<Servers>): Promise<void> {
  if (bound === 'balance') return;
  const { wallets, limits } = operatorAt(environment);
  const wallet = { partnerId: partner.partnerId, mode: 'test' as const };
  const charge = String(accessIdOf(outcomes.find(({ token }) => token)?.token ?? ''));
  const twice = [0, 1];
  await Promise.all([
    ...twice.map(() => retry(() => wallets.fund.mutate({ ...wallet, amount: topUp, reference: 'top-up' }))),
    ...twice.map(() => retry(() => wallets.refund.mutate({ entryId: charge, reason: 'sold out' }))),
    retry(() => limits.set.mutate({ ...wallet, perMinute: otherPerMinute })),
  ]);
}

/** Exchanges the remaining codes, when server and database are running again. */
export const exchangeLater = ({ environment, partner, later }: Scenario<Servers>): Promise<Outcome[]> =>
  exchangeAll({ publicUrls: environment.publicUrls, partner }, later, {
    clients: clientsForEachCode,
    spread: 0,
  });

function expectedOf({ bound, hour }: Scenario<Servers>): Expected {
  const isOperated = bound !== 'balance';
  const sameHour = hourOf(Date.now()) === hour;
  const all = before + during + after;
  const limit = bound === 'cap' && !sameHour ? undefined : mostBoundedCharges;
  return {
    funded: fundsOf(bound) + (isOperated ? topUp : 0),
    charges: bound === 'none' ? all : limit,
    manual: { opening: 1, funding: isOperated ? 2 : 1, refund: isOperated ? 1 : 0 },
    answers: before,
  };
}

/** Waits until the last page is old enough for a sweep, then sweeps until all pages are published. */
export async function sweepAll(scenario: Scenario, times: number): Promise<void> {
  await sleep(sweptAfterMs + 50);
  await eventually(async () => {
    await scenario.environment.sweep(times);
    return (await snapshotOf(scenario)).pages.every(({ unpublished }) => !unpublished);
  }, longestWait);
}

/** Describes the first token that does not work, unless a late repetition of its code has revoked it. */
async function tokenFaults(
  { environment }: Scenario<Servers>,
  { revoked }: LedgerSnapshot,
  outcomes: readonly Outcome[],
): Promise<string[]> {
  const tokens = outcomes.flatMap(({ token }) => token ?? []);
  const tried = await Promise.all(
    tokens.map(async (token, index) => {
      const url = environment.publicUrls[index % environment.publicUrls.length];
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await retry(() => fetch(`${url}/api/oauth/userinfo`, { headers }));
      return { token, status };
    }),
  );
  return tried.flatMap(({ token, status }) =>
    status === 200 || revoked.has(String(accessIdOf(token))) ? [] : [`userinfo answers ${status} to a token`],
  );
}

/** Returns the findings of the product's audit of the partner's wallets. */
async function auditFaults({ environment, partner: { partnerId } }: Scenario<Servers>): Promise<string[]> {
  const reports = await retry(() => operatorAt(environment).wallets.audit.query({ partnerId }));
  return reports.flatMap(({ findings }) => findings.map(({ problem }) => `audit: ${problem}`));
}

/** Checks the present ledger. An unpublished page is a fault. */
export async function checkNow(
  scenario: Scenario<Servers>,
  outcomes: readonly Outcome[],
): Promise<{ findings: MoneyFindings; snapshot: LedgerSnapshot }> {
  const all = [...scenario.outcomes, ...outcomes];
  const snapshot = await snapshotOf(scenario);
  const findings = checkMoney(snapshot, all, expectedOf(scenario));
  findings.other.push(...(await tokenFaults(scenario, snapshot, all)), ...(await auditFaults(scenario)));
  const perMinute = snapshot.pages.at(-1)?.state.caps.perMinute;
  if (scenario.bound !== 'balance' && perMinute !== otherPerMinute)
    findings.other.push(`the cap of a minute is ${perMinute}`);
  return { findings, snapshot };
}

/** Runs one sweep, or three simultaneous ones if `run` is odd. Then checks the ledger, and sweeps three more times. */
export async function findFaults(
  scenario: Scenario,
  outcomes: readonly Outcome[],
  run: number,
): Promise<MoneyFindings> {
  await sweepAll(scenario, run % 2 === 0 ? 1 : 3);
  const { findings, snapshot } = await checkNow(scenario, outcomes);
  await scenario.environment.sweep(3);
  const again = await snapshotOf(scenario);
  if (contentOf(again) !== contentOf(snapshot)) findings.other.push('sweeping again changed something');
  return findings;
}
