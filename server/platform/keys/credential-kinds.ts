import { identifierPrefixes, type SecretKind, secretPrefixes } from '../../../contracts/identifiers.ts';
import { isWellFormedSecret } from '../ids.ts';

/** Credentials and ids that a caller may confuse, each recognised by its prefix. */
const kinds = {
  clientSecret: { name: 'a client secret', prefixes: [secretPrefixes.clientSecret] },
  apiKey: { name: 'an API key', prefixes: [secretPrefixes.testKey, secretPrefixes.liveKey] },
  code: { name: 'an authorization code', prefixes: [secretPrefixes.code] },
  // A JSON Web Token begins with the base64url of `{"`.
  accessToken: { name: 'an access token', prefixes: ['eyJ'] },
  webhookSecret: { name: 'a webhook signing secret', prefixes: [secretPrefixes.webhookSecret] },
  integrationSecret: { name: 'an integration secret', prefixes: [secretPrefixes.integrationSecret] },
  operatorToken: { name: 'an operator token', prefixes: [secretPrefixes.operatorToken] },
  invitation: { name: 'an invitation to the portal', prefixes: [secretPrefixes.invitation] },
  memberSession: { name: 'a sign-in to the portal', prefixes: [secretPrefixes.memberSession] },
  deviceCode: { name: 'a device code of `svc login`', prefixes: [secretPrefixes.deviceCode] },
  deviceToken: { name: 'a token of `svc login`', prefixes: [secretPrefixes.deviceToken] },
  clientId: { name: 'a client id', prefixes: [identifierPrefixes.client] },
  keyId: { name: 'the id of an API key', prefixes: [identifierPrefixes.apiKey] },
  partnerId: { name: 'a partner id', prefixes: [identifierPrefixes.partner] },
  integrationId: { name: 'an integration id', prefixes: [identifierPrefixes.integration] },
  sessionId: { name: 'a session id', prefixes: [identifierPrefixes.session] },
  enrollmentId: { name: 'an enrollment id', prefixes: [identifierPrefixes.enrollment] },
} as const satisfies Record<string, { name: string; prefixes: readonly string[] }>;

export type CredentialKind = keyof typeof kinds;

/** The secrets that only the service makes. An operator chooses SVC_ADMIN_TOKEN, which need not have a checksum. */
const secretKinds = (Object.keys(secretPrefixes) as SecretKind[]).filter((kind) => kind !== 'operatorToken');

const hasPrefix = (text: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => text.startsWith(prefix));

const prefixesInWords = (prefixes: readonly string[]) =>
  prefixes.map((prefix) => `${prefix}...`).join(' or ');

/** Names the kind of `text`, such as `an API key (svc_test_...)`, without the secret. Undefined for an unknown prefix. */
export function nameKind(text: string): string | undefined {
  for (const { name, prefixes } of Object.values(kinds)) {
    const prefix = prefixes.find((candidate) => text.startsWith(candidate));
    if (prefix !== undefined) return `${name} (${prefixesInWords([prefix])})`;
  }
  return undefined;
}

/** Explains that a credential is one of another kind. Undefined if the prefix is unknown or the expected one. */
function wrongKind(text: string, expected: CredentialKind): string | undefined {
  const { name, prefixes } = kinds[expected];
  if (hasPrefix(text, prefixes)) return undefined;
  const kind = nameKind(text);
  return kind && `is ${kind}, not ${name} (${prefixesInWords(prefixes)})`;
}

function whiteSpace(text: string): string | undefined {
  if (text.trim() !== text) return 'has white space at its ends';
  return /\s/.test(text) ? 'has white space in it' : undefined;
}

/** Explains that a secret with the expected prefix cannot be one, because the end of each secret is a checksum of the rest. */
function wrongChecksum(text: string, expected: CredentialKind): string | undefined {
  const possible = secretKinds.filter((kind) => hasPrefix(secretPrefixes[kind], kinds[expected].prefixes));
  const isMistyped = possible.length > 0 && !possible.some((kind) => isWellFormedSecret(kind, text));
  return isMistyped ? 'fails its checksum: it is mistyped or cut' : undefined;
}

/**
 * Explains a mistake in printable ASCII, such as `client_secret is an API key (svc_test_...), not a client secret
 * (svc_secret_...)`. Looks only at the form of the text, so it tells nothing about what exists. Undefined if the form is right, or
 * the text is no credential of ours.
 */
export function describeMistake(field: string, text: string, expected: CredentialKind): string | undefined {
  const isOurs = nameKind(text.trim()) !== undefined;
  const mistake = isOurs
    ? (whiteSpace(text) ?? wrongKind(text, expected) ?? wrongChecksum(text, expected))
    : undefined;
  return mistake && `${field} ${mistake}`;
}
