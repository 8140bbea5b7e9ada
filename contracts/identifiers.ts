import { z } from 'zod';

/**
 * The prefixes of all identifiers and secrets of the API (docs/choices.md). The part after the prefix is base62: 128 bits for
 * identifiers, 256 bits and a checksum for secrets.
 */
export const identifierPrefixes = {
  partner: 'ptr_',
  client: 'cli_',
  apiKey: 'key_',
  integration: 'int_',
  session: 'ses_',
  enrollment: 'enr_',
  event: 'evt_',
  delivery: 'dlv_',
  bulkJob: 'blk_',
  entry: 'txn_',
  operator: 'opr_',
  user: 'usr_',
  member: 'mem_',
  passkey: 'pky_',
} as const;
export type IdentifierKind = keyof typeof identifierPrefixes;

export const secretPrefixes = {
  clientSecret: 'svc_secret_',
  testKey: 'svc_test_',
  liveKey: 'svc_live_',
  code: 'svc_code_',
  webhookSecret: 'whsec_',
  integrationSecret: 'intsec_',
  operatorToken: 'svc_admin_',
  invitation: 'svc_invite_',
  memberSession: 'svc_member_',
  deviceCode: 'svc_device_',
  deviceToken: 'svc_login_',
} as const;
export type SecretKind = keyof typeof secretPrefixes;

const base62 = '[0-9A-Za-z]';

/** Makes a schema for identifiers of one kind. For example, `identifier('partner')` accepts `ptr_…`. */
export function identifier(kind: IdentifierKind) {
  const prefix = identifierPrefixes[kind];
  return z.string().regex(new RegExp(`^${prefix}${base62}{22}$`), {
    error: `expected an identifier of the form ${prefix}…`,
  });
}

/** Returns the kind of an identifier by its prefix; undefined if it is unknown. */
export function identifierKind(value: string): IdentifierKind | undefined {
  const kinds = Object.keys(identifierPrefixes) as IdentifierKind[];
  return kinds.find((kind) => value.startsWith(identifierPrefixes[kind]));
}

/** The id of a ledger entry: `txn_…`, or `rev_txn_…` for the only refund that a charge can have. */
export const EntryId = z
  .string()
  .regex(/^(rev_)?txn_[0-9A-Za-z]{22}$/, { error: 'expected a ledger entry of the form txn_…' });

export const Mode = z.enum(['test', 'live']);
/** Each record of a partner belongs to one mode, and refers only to records of that mode. */
export type Mode = z.infer<typeof Mode>;

/** A date and time on the wire: RFC 3339 in UTC. */
export const DateTime = z.iso.datetime({ error: 'expected a time such as 2026-07-01T09:00:00Z' }).max(40);
