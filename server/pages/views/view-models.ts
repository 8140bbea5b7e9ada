import type { Language } from '../../platform/http/browser/language.ts';
import type { DeviceName } from '../../sessions/devices.ts';
import { isMistyped, mayOffer } from '../../sessions/hand-off/handoff.ts';
import type { Session } from '../../sessions/session.ts';
import type { Method } from '../../sessions/sources/source.ts';
import { claimsAskedFor, isReturnUnderWay } from '../../sessions/steps.ts';
import type { View } from '../flow/view.ts';
import { qrCode } from '../hand-off/qr.ts';
import type { Messages } from '../messages/en.ts';
import { minutesAgoInWords } from './formatters.ts';
import { languages } from './languages.ts';
import { usesOf } from './purpose.ts';

export interface RequestContext {
  language: Language;
  /** Path of the page: its form is sent there. */
  action: string;
  /** Whether this browser is on a phone already. */
  onPhone: boolean;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  now: number;
}

/** A template, and its data besides the data that every page has. */
interface ViewModel {
  template: string;
  status?: number;
  /** Whether a script of the page polls for changes of the session. */
  scripted?: boolean;
  [name: string]: unknown;
}

/** Names a browser so that its user can recognise it. */
export function deviceInWords(
  { browser, system }: DeviceName,
  { devices }: Pick<Messages, 'devices'>,
): string {
  return devices.named(browser ?? devices.browser, system ?? devices.system);
}

/** What the pages on which the user verifies say about the phone. */
const aboutPhone = ({ handoff }: Session, { onPhone }: RequestContext) => ({
  offersPhone: !onPhone && mayOffer(handoff),
  noneLeft: !onPhone && !mayOffer(handoff),
  mistyped: isMistyped(handoff),
});

/** The page of the session's source, by its kind. `hasOthers`: whether the user can go back to the list of methods. */
function sourcePage(view: Extract<View, { kind: 'begin' }>, context: RequestContext): ViewModel {
  const { beginning, session, asked } = view;
  const hasOthers = session.methods !== undefined;
  const common = { step: 'verify', ...aboutPhone(session, context), hasOthers };
  switch (beginning.kind) {
    case 'people':
      return { template: 'people', ...common, choices: beginning.choices };
    case 'provider': {
      const { label: source, url } = beginning;
      const { host: sourceHost } = new URL(url);
      return { template: 'provider', ...common, source, url, sourceHost, claims: asked.answered };
    }
    case 'identityWallet': {
      const { kind: _kind, label: source, ...request } = beginning;
      return {
        template: 'identity-wallet',
        ...common,
        ...request,
        scripted: true,
        source,
        claims: asked.answered,
        number: asked.asksNumber,
        version: versionOf(view),
      };
    }
    case 'down':
      return { template: 'down', step: 'verify', status: 503 };
  }
}

function methodInWords(method: Method, { methods: m }: Messages): { label: string; text: string } {
  if (method.kind === 'people') return { label: m.people.title, text: m.people.text };
  return {
    label: method.label,
    text: method.kind === 'identityWallet' ? m.identityWallet : m.provider(method.label),
  };
}

/** Paths of icons of 24 by 24 units: a person, a house with columns, a phone. */
const methodIcons: Record<Method['kind'], string> = {
  people: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21a8 8 0 0 1 16 0',
  provider: 'M3 9l9-5 9 5M4 20h16M6 10v8M10 10v8M14 10v8M18 10v8',
  identityWallet: 'M8 2h8a2 2 0 0 1 2 2v16a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2ZM11 18h2',
};

function methodList(
  { offered, last, session }: Extract<View, { kind: 'methods' }>,
  context: RequestContext,
): ViewModel {
  const m = languages[context.language];
  return {
    template: 'methods',
    step: 'verify',
    ...aboutPhone(session, context),
    offered: offered.map(({ method, ...rest }) => ({
      ...rest,
      kind: method.kind,
      ...methodInWords(method, m),
    })),
    icons: methodIcons,
    ended: last && m.methods.ended[last.reason](methodInWords(last.method, m).label),
  };
}

/** Whether a phone can open this address. `localhost` names each device itself (RFC 6761 6.3). */
function isReachable(baseUrl: string): boolean {
  return !/^(.+\.)?localhost$|^127\.|^\[::1\]$/.test(new URL(baseUrl).hostname);
}

/** The computer's page with link, QR code and code for the phone. Once they have expired, it offers new ones. */
function phoneOffer(view: Extract<View, { kind: 'handoff' }>, { baseUrl }: RequestContext): ViewModel {
  const { shown } = view;
  const link = shown && `${baseUrl}/verify/p/${shown.token}`;
  return {
    template: 'handoff',
    step: 'verify',
    scripted: true,
    link,
    // The user may have to type the address. In a narrow window, it breaks before the token.
    linkParts: link && [link.slice(0, -shown.token.length), shown.token],
    qr: link && isReachable(baseUrl) ? qrCode(link) : undefined,
    mayRenew: mayOffer(view.session.handoff),
    // Six digits are easier to copy in two groups of three.
    code: shown && `${shown.code.slice(0, 3)} ${shown.code.slice(3)}`,
    version: versionOf(view),
  };
}

/** The version of the session. The page's script compares it with `/state`, and reloads the page after a change. */
const versionOf = ({ session }: View): number => session.timeline.length;

export function viewModelOf(view: View, context: RequestContext): ViewModel {
  const m = languages[context.language];
  switch (view.kind) {
    case 'consent': {
      const claims = claimsAskedFor(view.session);
      return {
        template: 'consent',
        step: 'consent',
        claims,
        answered: view.asked.answered,
        number: view.asked.asksNumber,
        uses: usesOf(claims),
        passkey: view.passkey && JSON.stringify(view.passkey),
      };
    }
    case 'save-passkey':
      return { template: 'save-passkey', step: 'verify', passkey: JSON.stringify(view.passkey) };
    case 'begin':
      return sourcePage(view, context);
    case 'methods':
      return methodList(view, context);
    case 'handoff':
      return phoneOffer(view, context);
    case 'waiting':
      return {
        template: 'waiting',
        step: 'verify',
        scripted: true,
        phone: deviceInWords(view.handoff.phone ?? {}, m),
        // Once the user has authenticated at the phone, they can only confirm or deny the computer there.
        canStay: view.session.userId === undefined,
        version: versionOf(view),
      };
    case 'confirm': {
      const minutes = Math.floor((context.now - view.session.createdAt.getTime()) / 60_000);
      return {
        template: 'confirm',
        step: 'confirm',
        computer: deviceInWords(view.handoff.computer, m),
        began: minutesAgoInWords(context.language, minutes),
      };
    }
    case 'phone-over':
      return {
        template: 'notice',
        step: 'done',
        succeeded: view.succeeded,
        notice: view.succeeded ? m.phone.done : m.phone.ended,
      };
    case 'leave':
      return {
        template: 'leaving',
        step: 'done',
        url: view.url,
        succeeded: view.session.status === 'complete',
        signedIn: view.session.authenticatedAt !== undefined,
      };
  }
}

/** Percent-encodes characters that a header cannot hold. Registered URIs rarely contain them. */
const asHeader = (url: string) => url.replace(/[^\x21-\x7e]/gu, encodeURIComponent);

/**
 * The `Refresh` header of a view: it leads to the partner, or reloads the page.
 * @param usualSeconds after how many seconds the page is reloaded without another reason, to update the time that is left
 */
export function refreshOf(
  view: View,
  { now, usualSeconds }: { now: number; usualSeconds: number },
): string | undefined {
  if (view.kind === 'leave') return `0; url=${asHeader(view.url)}`;
  if (view.kind === 'phone-over') return undefined;
  // The browser has returned from the source's site, and another request asks the source about it. The page looks for the
  // result soon. An identity wallet's answer is verified before its browser returns, so there is nothing to wait for.
  const hasReturn = view.kind === 'begin' && view.beginning.kind !== 'identityWallet';
  if (hasReturn && isReturnUnderWay(view.session, now)) return '2';
  const { handoff } = view.session;
  if (view.kind !== 'handoff' || !view.shown || !handoff) return String(usualSeconds);
  // Code and link disappear when they expire. One second more, so that they have expired on the server too.
  const untilExpiry = Math.ceil((handoff.expiresAt.getTime() - now) / 1000) + 1;
  return String(Math.min(usualSeconds, Math.max(1, untilExpiry)));
}
