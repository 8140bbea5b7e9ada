import { chainOf, chargeIdOf } from './chain.ts';
import type { StoredPage } from './database.ts';
import { afterEntry, emptyWallet, type WalletView } from './fold.ts';
import type { Command, Exchange, Harness } from './harness.ts';

/** A state of a wallet, or one that a request could read, between two times. */
interface Moment {
  view: WalletView;
  from: number;
  until: number;
}

const lengths = { minute: 60_000, hour: 3_600_000 };

/** Returns all states of one chain. A state between two entries of a page exists while the page is being written. */
function momentsOf(harness: Harness, walletId: string): Moment[] {
  const readsUnconfirmed = harness.plan.deployment === 'single server';
  const moments: Moment[] = [];
  const states = new Map<number, WalletView>();
  let view = emptyWallet;

  function addPage({ page, appliedAt, confirmedAt, lostAt }: StoredPage): void {
    const settledAt = confirmedAt ?? lostAt ?? Number.POSITIVE_INFINITY;
    const from = readsUnconfirmed ? appliedAt : settledAt;
    const previous = moments.at(-1);
    if (previous && lostAt === undefined) previous.until = settledAt;
    for (const entry of page.entries) {
      view = afterEntry(view, entry, page.at.getTime());
      moments.push({ view, from, until: settledAt });
    }
    const last = moments.at(-1);
    if (last) last.until = lostAt ?? Number.POSITIVE_INFINITY;
  }

  for (const stored of chainOf(harness, walletId)) {
    addPage(stored);
    states.set(stored.page.n, view);
  }
  if (!readsUnconfirmed) return moments;
  for (const stored of harness.database.lost.filter(({ page }) => page.walletId === walletId)) {
    view = states.get(stored.page.n - 1) ?? emptyWallet;
    addPage(stored);
  }
  return moments;
}

interface Times {
  lowest: number;
  highest: number;
}

/** Returns whether a charge exceeds a cap at the earliest time that a clock could have shown. */
function isFull(view: WalletView, bucket: 'minute' | 'hour', time: number): boolean {
  const { start, used } = view[bucket];
  const now = Math.max(time, view.at);
  const limit = bucket === 'minute' ? view.caps.perMinute : view.caps.perHour;
  return used >= limit && now - (now % lengths[bucket]) <= start;
}

function isTrue(
  { outcome }: Pick<Exchange, 'outcome'>,
  cents: number,
  view: WalletView,
  times: Times,
): boolean {
  if (outcome === 'minute' || outcome === 'hour') return isFull(view, outcome, times.lowest);
  const capped = isFull(view, 'minute', times.highest) || isFull(view, 'hour', times.highest);
  return !capped && view.balance < cents;
}

const isRefusal = ({ outcome }: Exchange) => ['insufficient', 'minute', 'hour'].includes(outcome);

/**
 * Returns the time of the oldest state that a request can read. Soon after an election, a read may return an older confirmed
 * state.
 */
function earliest({ plan, database }: Harness, askedAt: number): number {
  if (plan.electionLag === 0) return askedAt;
  return Math.min(askedAt, ...database.lags.filter(({ until }) => until >= askedAt).map(({ from }) => from));
}

function exchangeFaults(harness: Harness, exchange: Exchange, moments: readonly Moment[]): string[] {
  const { largestOffsets, database } = harness;
  const { request, code, outcome, askedAt, answeredAt = Number.POSITIVE_INFINITY } = exchange;
  const about = `${request} about ${code.walletId} ${code.cause} was refused with "${outcome}"`;
  const from = earliest(harness, askedAt);
  // The clocks of processes show whole milliseconds, rounded.
  const times = {
    lowest: Math.round(from + largestOffsets.lowest),
    highest: Math.round(answeredAt + largestOffsets.highest),
  };
  const id = chargeIdOf(code);
  const charge = chainOf(harness, code.walletId).find(({ page }) =>
    page.entries.some((entry) => entry.id === id),
  );
  if ((charge?.confirmedAt ?? Number.POSITIVE_INFINITY) < from) return [`${about}, but the code was used`];
  const during = moments.filter((moment) => moment.from <= answeredAt && moment.until >= from);
  if (during.some(({ view }) => isTrue(exchange, code.cents, view, times))) return [];
  const shown = during.map(({ view }) => JSON.stringify(view)).slice(0, 3);
  return [`${about}, which was not true: ${shown} (${database.lost.length} pages lost)`];
}

function commandFaults(command: Command, moments: readonly Moment[], from: number): string[] {
  const { walletId, kind, amount, outcome, answeredAt = Number.POSITIVE_INFINITY } = command;
  if (outcome !== 'refused') return [];
  const during = moments.filter((moment) => moment.from <= answeredAt && moment.until >= from);
  if (during.some(({ view }) => view.balance + amount < 0)) return [];
  return [`a command to ${kind} ${amount} in ${walletId} was refused, though there was money`];
}

/** Checks that each refusal was correct at some time between the request and its answer. */
export function refusalFaults(harness: Harness): string[] {
  return harness.walletIds.flatMap((walletId) => {
    const exchanges = harness.exchanges.filter((each) => each.code.walletId === walletId && isRefusal(each));
    const commands = harness.commands.filter(
      (each) => each.walletId === walletId && each.outcome === 'refused',
    );
    if (exchanges.length + commands.length === 0) return [];
    const moments = momentsOf(harness, walletId);
    return [
      ...exchanges.flatMap((exchange) => exchangeFaults(harness, exchange, moments)),
      ...commands.flatMap((command) => commandFaults(command, moments, earliest(harness, command.askedAt))),
    ];
  });
}
