import type { LedgerEntry } from '../../server/billing/ledger.ts';
import { entryOf, reversalIdOf } from '../../server/billing/ledger.ts';
import { isBillable, largestHoldCount, type WalletState } from '../../server/billing/wallet-model.ts';
import { deriveId } from '../../server/platform/ids.ts';
import { type Code, idKey } from './process.ts';
import type { World } from './world.ts';

/** Each check answers with what is wrong, in words that name the ids. */

const total = (entries: readonly LedgerEntry[]) => entries.reduce((sum, { amount }) => sum + amount, 0);

/** The ledger of a wallet with its open holds in the places that are not written yet. */
function entriesOf({ database }: World, walletId: string, wallet: WalletState): LedgerEntry[] {
  const written = [...database.ledger.values()].filter((entry) => entry.walletId === walletId);
  const open = wallet.holds
    .filter(({ id }) => !database.ledger.has(id))
    .map((hold) => entryOf(walletId, hold));
  return [...written, ...open].sort((a, b) => a.seq - b.seq);
}

function chainFaults(walletId: string, wallet: WalletState, entries: readonly LedgerEntry[]): string[] {
  const faults: string[] = [];
  let balance = 0;
  entries.forEach(({ _id, seq, amount, balanceAfter }, index) => {
    balance += amount;
    if (seq !== index + 1) faults.push(`${walletId}: ${_id} stands at ${seq}, not at ${index + 1}`);
    if (balanceAfter !== balance) faults.push(`${walletId}: ${_id} leaves ${balanceAfter}, not ${balance}`);
  });
  if (entries.length !== wallet.seq) faults.push(`${walletId}: ${entries.length} entries for ${wallet.seq}`);
  return faults.slice(0, 2);
}

function sumFaults(walletId: string, wallet: WalletState, entries: readonly LedgerEntry[]): string[] {
  const of = (kinds: readonly string[]) => total(entries.filter(({ kind }) => kinds.includes(kind)));
  const charged = -total(entries.filter(({ kind }) => isBillable(kind)));
  const put = of(['funding', 'adjustment']);
  const given = of(['refund', 'reversal']);
  if (put === wallet.balance + charged - given) return [];
  return [`${walletId}: ${put} put in, ${charged} charged, ${given} given back, ${wallet.balance} left`];
}

/** Money that has moved for an id whose entry is in the ledger already. */
function repeatFaults({ database }: World, walletId: string, { holds }: WalletState): string[] {
  return holds.flatMap(({ id, seq }) => {
    const entry = database.ledger.get(id);
    return !entry || entry.seq === seq ? [] : [`${walletId}: ${id} moved at ${entry.seq}, again at ${seq}`];
  });
}

/** What holds at every moment, whatever is under way. */
export function faultsNow(world: World): string[] {
  return [...world.database.wallets].flatMap(([walletId, wallet]) => {
    const entries = entriesOf(world, walletId, wallet);
    const faults = [
      ...repeatFaults(world, walletId, wallet),
      ...chainFaults(walletId, wallet, entries),
      ...sumFaults(walletId, wallet, entries),
    ];
    const { holds, holdCount, settled, seq, balance } = wallet;
    if (settled + holds.length !== seq || holdCount !== holds.length)
      faults.push(`${walletId}: ${settled} settled and ${holds.length} held of ${seq}`);
    if (balance < 0) faults.push(`${walletId}: a balance of ${balance}`);
    return faults;
  });
}

/** No window number admits more than its cap, and no wallet holds more than it may. */
export function limitFaults({ database }: World): string[] {
  const faults: string[] = [];
  for (const [key, count] of database.admissions) {
    const [walletId = '', bucket] = key.split(' ');
    const caps = database.wallets.get(walletId)?.caps;
    const cap = bucket === 'minute' ? caps?.perMinute : caps?.perHour;
    if (cap !== undefined && count > cap) faults.push(`${key} admitted ${count} of ${cap}`);
  }
  if (database.fullest() > largestHoldCount) faults.push(`a wallet had ${database.fullest()} holds`);
  return faults;
}

const derived = new Map<string, readonly string[]>();

/** As server/billing/purchase.ts derives them; kept, because every schedule has codes of the same names. */
function chargeIds(cause: string): readonly string[] {
  const known = derived.get(cause);
  if (known) return known;
  const ids = [0, 1, 2, 3, 4].map((n) => deriveId(idKey, 'entry', ['charge', cause, n]));
  derived.set(cause, ids);
  return ids;
}

/** What a code can come to in the end. */
export function stateOf({ database }: World, { cause }: Code): 'open' | 'used' | 'exhausted' {
  const states = chargeIds(cause).map((id) => database.granted.get(id)?.state);
  if (states.includes('live')) return 'used';
  return states.includes(undefined) ? 'open' : 'exhausted';
}

/** Live accesses and charges that were not given back: one of each at most. */
function codeFaults({ database, codes }: World): string[] {
  const { granted: accesses, ledger } = database;
  return codes.flatMap(({ cause }) => {
    const ids = chargeIds(cause);
    const live = ids.filter((id) => accesses.get(id)?.state === 'live');
    const kept = ids.filter((id) => ledger.has(id) && !ledger.has(reversalIdOf(id)));
    const faults: string[] = [];
    if (live.length > 1) faults.push(`${cause} bought ${live.join(' and ')}`);
    if (kept.length > 1) faults.push(`${cause} was charged as ${kept.join(' and ')}`);
    return faults;
  });
}

/** Each access and each tombstone with its charge, and each charge with one of them. */
function pairingFaults({ database, events }: World): string[] {
  const { granted: accesses, ledger } = database;
  const faults: string[] = [];
  const givenBack = new Map<string, LedgerEntry[]>();
  for (const entry of ledger.values()) {
    const charge = entry.memo?.of;
    if (charge) givenBack.set(charge, [...(givenBack.get(charge) ?? []), entry]);
  }
  for (const { _id, kind } of ledger.values()) {
    const granted = accesses.has(_id) || givenBack.has(_id);
    if (isBillable(kind) && !granted) faults.push(`${_id} paid for nothing`);
  }
  for (const record of accesses.values()) {
    const { _id, state } = record;
    const back = givenBack.get(_id) ?? [];
    if (!ledger.has(_id)) faults.push(`${_id} is ${state} and has no charge`);
    if (back.length > 1) faults.push(`${_id} was given back ${back.length} times`);
    if (record.state === 'live') {
      if (back.some(({ kind }) => kind === 'reversal')) faults.push(`${_id} is live and was reversed`);
      if (record.kind === 'token' && !events.has(_id)) faults.push(`${_id} is live without its event`);
    } else {
      if (back.length === 0) faults.push(`${_id} is void and was not reversed`);
      if (events.has(_id)) faults.push(`${_id} is void and has an event`);
    }
  }
  return [...faults, ...database.decidedAgain.map((id) => `${id} was decided again after its purge`)];
}

/** Who was told "granted" has the access, alone; who was told a refusal did not buy anything. */
function toldFaults(world: World): string[] {
  const { database, codes, told } = world;
  const faults: string[] = [];
  const owners = new Set<string>();
  for (const { code, answer, access } of told) {
    if (answer === 'exhausted' && stateOf(world, code) !== 'exhausted')
      faults.push(`${code.cause} was called exhausted, and is ${stateOf(world, code)}`);
    if (answer === 'refused' || !access) continue;
    const standing = database.granted.get(access._id);
    if (standing?.state !== 'live')
      faults.push(`${code.cause} was granted ${access._id}, which is not there`);
    else if (standing.attempt !== access.attempt) faults.push(`${access._id} belongs to another request`);
    if (owners.has(access._id) && code.kind === 'token') faults.push(`${access._id} was granted twice`);
    owners.add(access._id);
  }
  for (const code of codes) {
    const bought = stateOf(world, code) === 'used';
    const buyer = told.find((each) => each.code === code && each.answer !== 'refused');
    if (bought && !buyer) faults.push(`${code.cause} was refused, and bought all the same`);
  }
  return faults;
}

/** What an operator was told of stands in the ledger, at the place and with the amount that was told. */
function movedFaults({ database, moved }: World): string[] {
  return moved.flatMap(({ _id, kind, seq, amount }) => {
    const entry = database.ledger.get(_id);
    const same = entry?.kind === kind && entry.seq === seq && entry.amount === amount;
    return same ? [] : [`${_id} was told as the ${kind} of ${amount} at ${seq}, and is not there`];
  });
}

/** What holds once everything has come to rest. */
export function faultsAtRest(world: World): string[] {
  const open = [...world.database.wallets].flatMap(([walletId, { holds }]) =>
    holds.map(({ id }) => `${walletId} still holds ${id}`),
  );
  return [
    ...faultsNow(world),
    ...open.slice(0, 2),
    ...limitFaults(world),
    ...codeFaults(world),
    ...pairingFaults(world),
    ...toldFaults(world),
    ...movedFaults(world),
  ];
}
