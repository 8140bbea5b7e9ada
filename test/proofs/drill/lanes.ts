import type { Db } from 'mongodb';
import { exchangeAll, type Outcome } from '../faults/clients.ts';
import { createCodes } from '../faults/codes.ts';
import type { Servers } from '../faults/environment.ts';
import { checkFlows, isSettled } from '../faults/flow-findings.ts';
import { claimFaults, codesOf } from '../faults/flow-run.ts';
import { chargesOf, readSnapshot } from '../faults/ledger-snapshot.ts';
import { checkMoney, type MoneyFindings } from '../faults/money-findings.ts';
import { createPartner, price } from '../faults/partner.ts';
import type { startReceiver } from '../faults/receiver.ts';
import { retry } from '../faults/retry.ts';
import {
  type Bound,
  checkNow,
  clientsForEachCode,
  exchangeLater,
  openScenario,
  operate,
} from '../faults/scenario.ts';
import { completeFlow, type FlowResult } from '../faults/users.ts';
import { checkWebhooks, isFinished } from '../faults/webhook-findings.ts';

export interface Environment extends Servers {
  db: Db;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
}

/** The totals of all lanes. */
export interface Figures {
  clients: number;
  tokens: number;
  charges: number;
  lostAnswers: number;
  flows: number;
  events: number;
  /** The number of repeated POSTs of an event after a 2xx. They are allowed, because delivery is at least once. */
  repeatedPosts: number;
}

/** One partner with active users and clients during an election. */
export interface Lane {
  /** Resolves when every client has its final answer. */
  run(): Promise<void>;
  /** Describes the faults that are certain before all effects are stored. */
  checkNow(): Promise<string[]>;
  /** Returns whether all effects of the answers are stored. */
  isSettled(): Promise<boolean>;
  /** Describes all faults after all effects are stored. */
  checkSettled(): Promise<{ faults: string[]; figures: Partial<Figures> }>;
}

/** The time in which clients start, in milliseconds. */
const spread = 600;

const moneyFaults = ({ lostCents, doubleDebits, orphans }: MoneyFindings): string[] => [
  ...(lostCents === 0 ? [] : [`${lostCents} cents are lost`]),
  ...(doubleDebits === 0 ? [] : [`${doubleDebits} double debits`]),
  ...(orphans === 0 ? [] : [`${orphans} tokens without a charge, or charges and refusals without a reason`]),
];

const figuresOf = (outcomes: readonly Outcome[], findings: MoneyFindings, charges: number) => ({
  clients: outcomes.length,
  tokens: findings.answers,
  charges,
  lostAnswers: findings.lostAnswers,
});

/** Checks that all clients got answers. @throws if a client has given up, because the state of its code is unknown */
function requireAnswers(outcomes: readonly Outcome[]): void {
  const open = outcomes.filter(({ token, refusal }) => token === undefined && refusal === undefined).length;
  if (open > 0) throw new Error(`${open} clients got no final answer in 60 s of asking`);
}

/** Starts clients for codes of a new partner, two for each code at both servers, and operators' commands, each sent twice. */
export async function openMoneyLane(environment: Environment, bound: Bound): Promise<Lane> {
  const scenario = await openScenario(environment, bound);
  const { partner, codes } = scenario;
  const { db, publicUrls } = environment;
  const outcomes: Outcome[] = [];
  return {
    async run() {
      const exchanging = exchangeAll({ publicUrls, partner }, codes, { clients: clientsForEachCode, spread });
      const [first] = await Promise.all([exchanging, operate(scenario)]);
      outcomes.push(...first, ...(await exchangeLater(scenario)));
      requireAnswers(outcomes);
    },
    async checkNow() {
      const { findings } = await checkNow(scenario, outcomes);
      return [...moneyFaults(findings), ...outcomes.flatMap(({ faults }) => faults)];
    },
    isSettled: async () =>
      (await readSnapshot(db, partner)).pages.every(({ unpublished }) => unpublished === undefined),
    async checkSettled() {
      const { findings, snapshot } = await checkNow(scenario, outcomes);
      return {
        faults: [...moneyFaults(findings), ...findings.other],
        figures: figuresOf([...scenario.outcomes, ...outcomes], findings, chargesOf(snapshot).length),
      };
    },
  };
}

/** The number of concurrent browsers. Each `new-adult` is a different user. */
const people = ['new-adult', 'adult'] as const;
const codesWithEvents = 6;

/** Starts users in hosted flows, and creates codes with unpublished events, for a new partner with a webhook. */
export async function openFlowLane(environment: Environment): Promise<Lane> {
  const { db, publicUrls, receiver } = environment;
  const endpoint = receiver.open(0);
  const funds = 100 * price;
  const partner = await createPartner(environment, { funds, webhook: endpoint.url });
  const codes = await createCodes(db, partner, { count: codesWithEvents, unpublished: true });
  let flowResults: FlowResult[] = [];
  const outcomes: Outcome[] = [];
  const clients = { clients: 1, spread };

  const [publicUrl = ''] = publicUrls;
  const passAll = () =>
    Promise.all(
      people.map((person) => completeFlow({ publicUrl, servers: publicUrls, partner, person, delay: 0 })),
    );
  const snapshotOf = () => retry(() => readSnapshot(db, partner));
  const expected = {
    funded: funds,
    charges: codesWithEvents + people.length,
    manual: { opening: 1, funding: 1 },
    answers: 0,
  };

  return {
    async run() {
      const [passed, first] = await Promise.all([
        passAll(),
        exchangeAll({ publicUrls, partner }, codes, clients),
      ]);
      flowResults = passed;
      const own = await codesOf(environment, flowResults);
      outcomes.push(...first, ...(await exchangeAll({ publicUrls, partner }, own, clients)));
      requireAnswers(outcomes);
    },
    async checkNow() {
      const findings = checkMoney(await snapshotOf(), outcomes, expected);
      return [...moneyFaults(findings), ...[...flowResults, ...outcomes].flatMap(({ faults }) => faults)];
    },
    isSettled: async () =>
      (await isFinished(db, partner, endpoint.arrived())) &&
      (await isSettled(db, partner)) &&
      (await readSnapshot(db, partner)).pages.every(({ unpublished }) => unpublished === undefined),
    async checkSettled() {
      const snapshot = await snapshotOf();
      const findings = checkMoney(snapshot, outcomes, expected);
      const [left, webhooks] = await retry(() =>
        Promise.all([
          checkFlows(db, partner, { flows: expected.charges, people: expected.charges }),
          checkWebhooks(db, partner, endpoint.arrived()),
        ]),
      );
      const { events, lost, altered, invented, repeated } = webhooks;
      const wrong = { lost, altered, invented };
      const tokens = outcomes.flatMap(({ token }) => token ?? []);
      return {
        faults: [
          ...moneyFaults(findings),
          ...findings.other,
          ...Object.entries(wrong).flatMap(([how, count]) => (count === 0 ? [] : [`${count} events ${how}`])),
          ...webhooks.other,
          ...(left.doubled === 0 ? [] : [`${left.doubled} doubled steps, sessions or enrollments`]),
          ...(left.orphans === 0 ? [] : [`${left.orphans} orphans among users and enrollments`]),
          ...(await claimFaults(publicUrl, tokens)),
        ],
        figures: {
          ...figuresOf(outcomes, findings, chargesOf(snapshot).length),
          flows: flowResults.filter(({ code }) => code !== undefined).length,
          events,
          repeatedPosts: repeated,
        },
      };
    },
  };
}
