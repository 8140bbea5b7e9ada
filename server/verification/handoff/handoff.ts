import { createHmac } from 'node:crypto';
import { sameText } from '../../platform/ids.ts';
import type { Handoff, Session } from '../session/session.ts';
import { authenticatedFields, type Transition } from '../session/transitions.ts';
import type { DeviceName } from './devices.ts';
import { linkHashOf, linkOf, secretLength } from './link.ts';

/** Milliseconds that a link and its code work. */
export const handoffLifetimeMs = 120_000;
const maxWrongCodes = 3;
/** Limits guessing: 10 offers with 3 codes each are 30 guesses among a million codes. */
const maxOffers = 10;

/** One offer of a session's hand-off. Link and code are derived from it. */
interface Offer {
  _id: string;
  number: number;
}

function derived(key: Uint8Array, purpose: string, { _id, number }: Offer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(['handoff', purpose, _id, number]))
    .digest();
}

const tokenOf = (key: Uint8Array, offer: Offer) =>
  linkOf(offer._id, derived(key, 'link', offer).subarray(0, secretLength));

const codeOf = (key: Uint8Array, offer: Offer) =>
  String(derived(key, 'code', offer).readUIntBE(0, 6) % 1_000_000).padStart(6, '0');

/** Returns the end of the link and the six-digit code, which the computer shows. Undefined if the link was made with another key. */
export function linkAndCode(key: Uint8Array, _id: string, { number, linkHash }: Handoff) {
  const offer = { _id, number };
  const token = tokenOf(key, offer);
  return linkHashOf(token) === linkHash ? { token, code: codeOf(key, offer) } : undefined;
}

export function isCode(key: Uint8Array, offer: Offer, typed: string): boolean {
  return sameText(typed.replace(/\D/g, ''), codeOf(key, offer));
}

/** Whether a link can still be opened: it was offered less than two minutes ago, and nothing has replaced the offer. */
export function isOpen(handoff: Handoff | undefined, now: number): handoff is Handoff {
  return handoff?.state === 'offered' && now < handoff.expiresAt.getTime();
}

/** Offers a new link and code; undefined after too many offers. */
export function handoffOffered(
  key: Uint8Array,
  { _id, handoff }: Session,
  { computer, browserHash, at }: { computer: DeviceName; browserHash: string; at: Date },
): Transition | undefined {
  const number = (handoff?.number ?? 0) + 1;
  if (number > maxOffers) return undefined;
  const token = tokenOf(key, { _id, number });
  const expiresAt = new Date(at.getTime() + handoffLifetimeMs);
  const next: Handoff = {
    state: 'offered',
    number,
    linkHash: linkHashOf(token),
    expiresAt,
    wrongCodes: 0,
    computer,
  };
  return {
    set: { handoff: next, browserHash },
    entry: { at, event: 'handoff_offered', note: deviceText(computer) },
  };
}

const deviceText = ({ browser = 'unknown browser', system = 'unknown system' }: DeviceName) =>
  `${browser}, ${system}`;

/** Cancels the hand-off: link and phone are no longer accepted, and the computer continues. */
export function handoffCancelled(
  { linkHash: _link, phoneHash: _phone, ...handoff }: Handoff,
  at: Date,
): Transition {
  return { set: { handoff: { ...handoff, state: 'cancelled' } }, entry: { at, event: 'handoff_cancelled' } };
}

/** Counts a wrong code. The third one cancels the hand-off. */
export function handoffMistyped(handoff: Handoff, at: Date): Transition {
  const wrongCodes = handoff.wrongCodes + 1;
  const { linkHash: _link, ...closed } = handoff;
  const next: Handoff =
    wrongCodes < maxWrongCodes ? { ...handoff, wrongCodes } : { ...closed, wrongCodes, state: 'cancelled' };
  return {
    set: { handoff: next },
    entry: { at, event: 'handoff_mistyped', note: `${wrongCodes} of ${maxWrongCodes}` },
  };
}

/** The code was right: the session continues on the phone, and the link is used up. */
export function handoffClaimed(
  handoff: Handoff,
  { phone, phoneHash, at }: { phone: DeviceName; phoneHash: string; at: Date },
): Transition {
  return {
    set: { handoff: { ...handoff, state: 'claimed', phone, phoneHash } },
    entry: { at, event: 'handoff_claimed', note: deviceText(phone) },
  };
}

interface AtPhone extends Required<Pick<Session, 'userId'>>, Pick<Session, 'source' | 'rehearse'> {
  handoff: Handoff;
  phoneHash: string;
}

/** The user at the phone has authenticated. This takes effect with the confirmation (docs/choices.md). */
export function handoffAuthenticated(
  { source, handoff, phoneHash, userId, rehearse }: AtPhone,
  carried: Transition['carried'],
  at: Date,
): Transition {
  const set = { userId, handoff: { ...handoff, phoneHash }, ...(rehearse ? { rehearse } : {}) };
  return { set, carried, entry: { at, event: 'handoff_authenticated', note: source } };
}

/**
 * The user at the phone confirms the computer. This completes the authentication, and the computer's secret is
 * rotated to that of `browserHash`.
 */
export function handoffConfirmed(
  { handoff, browserHash: computerHash }: { handoff: Handoff; browserHash: string },
  { browserHash, ...who }: Parameters<typeof authenticatedFields>[0] & { browserHash: string },
  at: Date,
): Transition {
  const next = { ...handoff, state: 'confirmed' as const, computerHash };
  const set = { handoff: next, browserHash, ...authenticatedFields(who, at) };
  return { set, entry: { at, event: 'handoff_confirmed' } };
}
