import { createHash } from 'node:crypto';
import { identifierPrefixes, type SecretKind, secretPrefixes } from '../../contracts/identifiers.ts';

/** A pasted secret: its kind, its hash and advice for support, but not the secret itself. */
export interface GivenSecret {
  /** The kind and the hash by which the server finds the secret. Undefined for an access token. */
  known?: { kind: SecretKind; hash: string };
  name: string;
  masked: string;
  advice: string;
}

interface SecretRow {
  name: string;
  /** How many characters of its end may be shown. */
  shown: number;
  advice: (last: string) => string;
}

const byLastFour = (last: string) =>
  `\`svcadmin partners list --search ${last}\` finds the key by its last four characters; where others have seen it: \`svcadmin keys rotate key_…\`.`;
const byHash = () =>
  'Where others have seen it: `svcadmin secrets find` asks for it, and says whose it is and which command ends it.';

const secrets: Readonly<Record<SecretKind, SecretRow>> = {
  testKey: { name: 'a test API key', shown: 4, advice: byLastFour },
  liveKey: { name: 'a live API key', shown: 4, advice: byLastFour },
  clientSecret: { name: 'a client secret', shown: 0, advice: byHash },
  code: {
    name: 'an authorization code',
    shown: 0,
    advice: () => '`svcadmin requests list --partner ptr_… --path /api/oauth` finds its exchange.',
  },
  webhookSecret: { name: 'a webhook signing secret', shown: 0, advice: byHash },
  integrationSecret: { name: 'an integration secret', shown: 0, advice: byHash },
  operatorToken: { name: 'an operator token', shown: 0, advice: byHash },
  invitation: {
    name: 'the invitation of a member',
    shown: 0,
    advice: () => '`svcadmin members invite` for the same address makes another, and ends this one.',
  },
  memberSession: {
    name: 'the session of a member',
    shown: 0,
    advice: () => '`svcadmin members remove` ends all sessions of a member.',
  },
  deviceCode: {
    name: 'a device code of `svc login`',
    shown: 0,
    advice: () => 'It ends 10 minutes after `svc login` began.',
  },
  deviceToken: {
    name: 'a token of `svc login`',
    shown: 0,
    advice: () =>
      'Its member ends it at /portal/devices, or by `svc logout`; `svcadmin members role` with another role ends all of a member.',
  },
};

/** Returns the SHA-256 in base64url, as the server stores it. */
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

const accessToken = {
  name: 'an access token',
  advice: 'Ask for the X-Request-Id of the call, or for the session.',
};

/** Finds a secret anywhere in a text. */
export function findSecret(text: string): GivenSecret | undefined {
  for (const [kind, prefix] of Object.entries(secretPrefixes) as [SecretKind, string][]) {
    const [secret, body] = new RegExp(`${prefix}(\\w{4,})`).exec(text) ?? [];
    if (secret === undefined || body === undefined) continue;
    const { name, shown, advice } = secrets[kind];
    const last = shown > 0 ? body.slice(-shown) : '';
    return { known: { kind, hash: sha256(secret) }, name, masked: `${prefix}…${last}`, advice: advice(last) };
  }
  return /eyJ[\w-]{8,}\.[\w-]+/.test(text) ? { ...accessToken, masked: 'eyJ…' } : undefined;
}

/** The kinds of records that an id can name. */
export type Kind =
  | keyof typeof identifierPrefixes
  | 'request'
  | 'wallet'
  | 'job'
  /** `sub` or `user_id`: the identifier by which a partner knows a user. */
  | 'subject';

export interface Identified {
  kind: Kind;
  id: string;
}

const body = '[0-9A-Za-z]{22}';
/** The forms of ids. The most specific comes first, because the id of a wallet begins with the id of a partner. */
const forms: readonly (readonly [Kind, RegExp])[] = [
  ['wallet', new RegExp(`ptr_${body}:(test|live)\\b`)],
  ['entry', new RegExp(`\\b(rev_)?${identifierPrefixes.entry}${body}\\b`)],
  ['request', new RegExp(`\\breq_${body}\\b`)],
  ...(Object.entries(identifierPrefixes) as [Kind, string][]).map(
    ([kind, prefix]) => [kind, new RegExp(`\\b${prefix}${body}\\b`)] as const,
  ),
  ['job', /^[0-9a-f]{24}$/],
  ['subject', /^[\w-]{43}$/],
];

/** Finds the kind of the record that a text names. The text may be a URL or a sentence that contains the id. */
export function identify(text: string): Identified | undefined {
  for (const [kind, form] of forms) {
    const [id] = form.exec(text) ?? [];
    if (id !== undefined) return { kind, id };
  }
  return undefined;
}
