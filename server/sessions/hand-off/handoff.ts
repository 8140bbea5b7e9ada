import { createHmac } from 'node:crypto';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { sameText } from '../../platform/ids.ts';
import type { DeviceName } from '../devices.ts';
import type { Handoff, Session } from '../session.ts';
import { type AuthenticatedUser, authenticatedFields, type Transition } from '../transitions.ts';
import { linkHashOf, linkOf, secretLength } from './link.ts';

/** How long a link and its code work, in milliseconds. */
export const handoffLifetimeMs = 120_000;
const maxWrongCodes = 3;
/** Limits guessing: 10 offers with 3 codes each are 30 guesses among a million codes. */
const maxOffers = 10;

/** One offer of a session's hand-off: the session's id, and which of its offers. Link and code are derived from it. */
interface Offer {
  sessionId: string;
  number: number;
}

/** The HMAC of an offer. Link and code take their secret parts from it, each from that of its own purpose. */
function derived(key: Uint8Array, purpose: 'link' | 'code', { sessionId, number }: Offer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(['handoff', purpose, sessionId, number]))
    .digest();
}

const tokenOf = (key: Uint8Array, offer: Offer) =>
  linkOf(offer.sessionId, derived(key, 'link', offer).subarray(0, secretLength));

/** Six digits from 48 bits of the hash. So many bits make all codes almost equally likely. */
const codeOf = (key: Uint8Array, offer: Offer) =>
  String(derived(key, 'code', offer).readUIntBE(0, 6) % 1_000_000).padStart(6, '0');

/**
 * Returns the token in the link and the six-digit code, which the computer shows. Undefined if the offer was made with
 * another key, so that both would be wrong.
 */
export function linkAndCode(key: Uint8Array, sessionId: string, { number, linkHash }: Handoff) {
  const offer = { sessionId, number };
  const token = tokenOf(key, offer);
  return linkHashOf(token) === linkHash ? { token, code: codeOf(key, offer) } : undefined;
}

/** Whether the digits that the user has typed are the code of this offer. */
export function isCode(key: Uint8Array, offer: Offer, digits: string): boolean {
  return sameText(digits, codeOf(key, offer));
}

/** Whether a link can still be opened: it was offered less than two minutes ago, and nothing has replaced the offer. */
export function isOpen(handoff: Handoff | undefined, now: number): handoff is Handoff {
  return handoff?.state === 'offered' && now < handoff.expiresAt.getTime();
}

/** Whether another link for the phone may be made for the session. */
export const mayOffer = (handoff: Handoff | undefined): boolean => (handoff?.number ?? 0) < maxOffers;

/** Whether wrong codes have cancelled the hand-off. */
export const isMistyped = (handoff: Handoff | undefined): boolean =>
  handoff?.state === 'cancelled' && handoff.wrongCodes >= maxWrongCodes;

/**
 * Offers a new link and code, and rotates the secret of the computer's cookie.
 * @returns undefined after too many offers
 */
export function handoffOffered(
  key: Uint8Array,
  { _id: sessionId, handoff }: Session,
  { computer, newBrowserHash, at }: { computer: DeviceName; newBrowserHash: string; at: Date },
): Transition | undefined {
  if (!mayOffer(handoff)) return undefined;
  const number = (handoff?.number ?? 0) + 1;
  const token = tokenOf(key, { sessionId, number });
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
    set: { handoff: next, browserHash: newBrowserHash },
    entry: { at, event: 'handoff_offered', note: deviceText(computer) },
  };
}

/** A device in the timeline, for operators. */
const deviceText = ({ browser = 'unknown browser', system = 'unknown system' }: DeviceName) =>
  `${browser}, ${system}`;

/** The hand-off without the hashes of link and phone, so that neither is accepted any more. */
const cancelled = ({ linkHash: _link, phoneHash: _phone, ...handoff }: Handoff): Handoff => ({
  ...handoff,
  state: 'cancelled',
});

/** The user continues at the computer. */
export const handoffCancelled = (handoff: Handoff, at: Date): Transition => ({
  set: { handoff: cancelled(handoff) },
  entry: { at, event: 'handoff_cancelled' },
});

/** Counts a wrong code. The third one cancels the hand-off. */
export function handoffMistyped(handoff: Handoff, at: Date): Transition {
  const wrongCodes = handoff.wrongCodes + 1;
  const next = { ...handoff, wrongCodes };
  return {
    set: { handoff: wrongCodes < maxWrongCodes ? next : cancelled(next) },
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

/**
 * The user at the phone has authenticated. The session stays `pending`: the authentication takes effect when the user
 * confirms the computer (docs/choices.md).
 */
export function handoffAuthenticated(
  { source, handoff, phoneHash, userId, rehearse }: AtPhone,
  carried: Transition['carried'],
  at: Date,
): Transition {
  const set = { userId, handoff: { ...handoff, phoneHash }, ...givenFields({ rehearse }) };
  return { set, carried, entry: { at, event: 'handoff_authenticated', note: source } };
}

interface Confirmation {
  user: AuthenticatedUser;
  /** SHA-256 of the new secret for the computer's cookie. */
  newBrowserHash: string;
  at: Date;
}

/**
 * The user at the phone confirms the computer. This completes the authentication, and rotates the computer's secret.
 * The old secret is kept as `computerHash`: with it, the computer fetches the new one.
 */
export function handoffConfirmed(
  { handoff, browserHash: computerHash }: { handoff: Handoff; browserHash: string },
  { user, newBrowserHash, at }: Confirmation,
): Transition {
  const confirmed: Handoff = { ...handoff, state: 'confirmed', computerHash };
  const set = { handoff: confirmed, browserHash: newBrowserHash, ...authenticatedFields(user, at) };
  return { set, entry: { at, event: 'handoff_confirmed' } };
}
