import { createHash } from 'node:crypto';
import { identifierPrefixes, type SecretKind, secretPrefixes } from '../../contracts/identifiers.ts';

/** A secret that was found in a text: its kind, its hash and advice for support, but not the secret itself. */
export interface FoundSecret {
  /** The kind and the hash by which the server finds the secret. Undefined for an access token, which has no such kind. */
  reference?: { kind: SecretKind; hash: string };
  name: string;
  masked: string;
  advice: string;
}

interface SecretKindRow {
  name: string;
  /** How many characters of the end are shown; none by default. Lists show the last four of an API key, and find it by them. */
  shownCharacters?: number;
  advice: (last: string) => string;
}

const adviseSearch = (last: string) =>
  `\`svcadmin partners list --search ${last}\` finds the key by its last four characters; where others have seen it: \`svcadmin keys rotate key_…\`.`;
const adviseFind = () =>
  'Where others have seen it: `svcadmin secrets find` asks for it, and says whose it is and which command ends it.';

const secrets: Readonly<Record<SecretKind, SecretKindRow>> = {
  testKey: { name: 'a test API key', shownCharacters: 4, advice: adviseSearch },
  liveKey: { name: 'a live API key', shownCharacters: 4, advice: adviseSearch },
  clientSecret: { name: 'a client secret', advice: adviseFind },
  code: {
    name: 'an authorization code',
    advice: () => '`svcadmin requests list --partner ptr_… --path /api/oauth` finds its exchange.',
  },
  webhookSecret: { name: 'a webhook signing secret', advice: adviseFind },
  integrationSecret: { name: 'an integration secret', advice: adviseFind },
  operatorToken: { name: 'an operator token', advice: adviseFind },
  invitation: {
    name: 'the invitation of a member',
    advice: () => '`svcadmin members invite` for the same address makes another, and ends this one.',
  },
  memberSession: {
    name: 'the session of a member',
    advice: () => '`svcadmin members remove` ends all sessions of a member.',
  },
  deviceCode: {
    name: 'a device code of `svc login`',
    advice: () => 'It ends 10 minutes after `svc login` began.',
  },
  deviceToken: {
    name: 'a token of `svc login`',
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

/** Matches the first two parts of a JWT, such as an access token. `eyJ` is `{"` in base64url. */
const jwtForm = /eyJ[\w-]{8,}\.[\w-]+/;

/** Finds the first secret in a text: one with a prefix of this service, else an access token. */
export function findSecret(text: string): FoundSecret | undefined {
  for (const [kind, prefix] of Object.entries(secretPrefixes) as [SecretKind, string][]) {
    // A prefix alone, as in `svc_test_…`, is no secret.
    const [secret, body] = new RegExp(`${prefix}(\\w{4,})`).exec(text) ?? [];
    if (secret === undefined || body === undefined) continue;
    const { name, shownCharacters = 0, advice } = secrets[kind];
    const last = shownCharacters > 0 ? body.slice(-shownCharacters) : '';
    const reference = { kind, hash: sha256(secret) };
    return { reference, name, masked: `${prefix}…${last}`, advice: advice(last) };
  }
  return jwtForm.test(text) ? { ...accessToken, masked: 'eyJ…' } : undefined;
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

const idBody = '[0-9A-Za-z]{22}';
/**
 * The forms of ids. The first that matches counts, so a wallet (`ptr_…:live`) comes before its partner. A refund is an entry
 * whose id begins with `rev_`. Ids of jobs and subjects have no prefix, so they must be the whole text.
 */
const forms: readonly (readonly [Kind, RegExp])[] = [
  ['wallet', new RegExp(`\\bptr_${idBody}:(test|live)\\b`)],
  ['entry', new RegExp(`\\b(rev_)?${identifierPrefixes.entry}${idBody}\\b`)],
  ['request', new RegExp(`\\breq_${idBody}\\b`)],
  ...(Object.entries(identifierPrefixes) as [Kind, string][]).map(
    ([kind, prefix]) => [kind, new RegExp(`\\b${prefix}${idBody}\\b`)] as const,
  ),
  ['job', /^[0-9a-f]{24}$/],
  ['subject', /^[\w-]{43}$/],
];

/** Finds an id in a text, and the kind of its record. The text may be a URL or a sentence that contains the id. */
export function identify(text: string): Identified | undefined {
  for (const [kind, form] of forms) {
    const [id] = form.exec(text) ?? [];
    if (id !== undefined) return { kind, id };
  }
  return undefined;
}
