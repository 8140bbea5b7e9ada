import { setTimeout as sleep } from 'node:timers/promises';
import { type Books, movesOf, readBooks } from './books.ts';
import { buyAll, type Outcome } from './buyers.ts';
import { type Code, createCodes } from './codes.ts';
import { accessIdOf, judgeMoney, type MoneyFindings } from './judgement.ts';
import { createPartner, operatorAt, type Partner } from './partner.ts';
import { eventually, insist } from './patience.ts';
import type { Site } from './site.ts';
import type { Strike } from './strike.ts';

/** Who takes part in a run of money. */
export interface Scene {
  site: Site;
  partner: Partner;
  codes: Code[];
}

/** Cents. */
const opening = 500_000;
const topUp = 5_000;
const codesARun = 8;
const longestWait = 10_000;

export async function setScene(site: Site): Promise<Scene> {
  const partner = await createPartner(site, { funds: opening });
  const scene = { site, partner, codes: await createCodes(site.db, partner, { count: codesARun }) };
  // The first money is through: what strikes at a settlement shall meet one of an exchange.
  await eventually(() => isSettled(scene), longestWait);
  return scene;
}

/** An operator's command, repeated until it is answered: money that comes must come once. */
export function fundMore({ site, partner }: Scene): Promise<unknown> {
  const command = { partnerId: partner.partnerId, mode: 'test' as const, amount: topUp, reference: 'top-up' };
  return insist(() => operatorAt(site).wallets.fund.mutate(command));
}

const booksOf = ({ site, partner }: Scene): Promise<Books> => insist(() => readBooks(site.db, partner));

const isSettled = async (scene: Scene): Promise<boolean> => (await booksOf(scene)).wallet.holds.length === 0;

/** Waits until the last hold may be swept: one whose row is written may still owe its event. */
export async function deadlines(scene: Scene): Promise<void> {
  const { wallet } = await booksOf(scene);
  const last = Math.max(0, ...wallet.holds.map(({ deadline }) => deadline.getTime()));
  if (last > Date.now()) await sleep(last - Date.now() + 10);
}

/** Lets a held message go when its moment has come. */
export async function release(scene: Scene, strike: Strike, go: () => Promise<void>): Promise<void> {
  const when = 'interferes' in strike ? strike.release : undefined;
  if (when === undefined) return;
  const settled = () => isSettled(scene);
  if (when !== 'after the exchange') await eventually(settled, longestWait);
  if (when === 'past the ring') {
    await forget(scene);
    await eventually(settled, longestWait);
  }
  await go();
}

/** So many exchanges that the wallet does not remember the ones before. */
async function forget({ site, partner }: Scene): Promise<void> {
  const codes = await createCodes(site.db, partner, { count: 300 });
  await buyAll({ publicUrl: site.publicUrl, partner }, codes, { clients: 1, spread: 0 });
}

/** The first token that was got, where it does not work: unless a late replay of its code revoked it. */
async function tokenFaults({ site }: Scene, books: Books, outcomes: readonly Outcome[]): Promise<string[]> {
  const token = outcomes.find((outcome) => outcome.token !== undefined)?.token;
  if (token === undefined) return [];
  const access = books.accesses.find(({ _id }) => _id === accessIdOf(token));
  const { status } = await fetch(`${site.publicUrl}/api/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return status === 200 || access?.revokedAt ? [] : [`userinfo answers ${status} to a token`];
}

/** One sweep, or three at once where `run` is odd; then what they left is judged, and swept thrice more. */
export async function judge(scene: Scene, outcomes: readonly Outcome[], run: number): Promise<MoneyFindings> {
  const { site } = scene;
  await deadlines(scene);
  await site.sweep(run % 2 === 0 ? 1 : 3);
  const books = await booksOf(scene);
  const findings = judgeMoney(books, outcomes, opening + topUp);
  findings.other.push(...(await tokenFaults(scene, books, outcomes)));
  await site.sweep(3);
  const again = await booksOf(scene);
  if (movesOf(again) !== movesOf(books)) findings.other.push('sweeping again changed something');
  return findings;
}

/** Whether a sweep makes everything leave the wallets of a site that is overdue, a moment later. */
export async function holdsLeave(site: Site): Promise<boolean> {
  const overdue = { holds: { $elemMatch: { deadline: { $lt: new Date() } } } };
  await site.sweep();
  const wallets = site.db.collection('wallets');
  return eventually(async () => (await wallets.countDocuments(overdue)) === 0, longestWait);
}
