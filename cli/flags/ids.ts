import type { Command } from '@oclif/core';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { wrongKindMessage } from '../../contracts/admin/references.ts';
import { type IdentifierKind, identifierKind, identifierPrefixes } from '../../contracts/identifiers.ts';
import { CommandError } from '../errors/failure.ts';
import { programOf } from '../program/program.ts';
import { refuseSecret } from '../secrets/input.ts';

/** The name of each kind of record in messages, and the command that lists or finds its ids, in `svc` where it has another name. */
const kinds: Readonly<Record<IdentifierKind, { noun: string; finder: string; inSvc?: string }>> = {
  partner: { noun: 'partner', finder: 'partners list --search TEXT' },
  client: { noun: 'client', finder: 'clients list' },
  apiKey: { noun: 'API key', finder: 'keys list' },
  integration: { noun: 'integration', finder: 'integrations list' },
  session: { noun: 'session', finder: 'sessions list' },
  enrollment: { noun: 'enrollment', finder: 'enrollments list' },
  event: { noun: 'event', finder: 'deliveries list --columns eventId' },
  delivery: { noun: 'delivery', finder: 'deliveries list' },
  bulkJob: { noun: 'bulk job', finder: 'bulk list', inSvc: 'deliveries resend' },
  entry: { noun: 'ledger entry', finder: 'wallets statement ptr_…', inSvc: 'statement' },
  operator: { noun: 'operator', finder: 'operators list' },
  user: { noun: 'user', finder: 'users find' },
  member: { noun: 'member', finder: 'members list ptr_…', inSvc: 'members list' },
  passkey: { noun: 'passkey', finder: 'users show usr_…' },
};

/** Returns the error for a text that is no id of the kind, with the command that shows such ids. */
function notAnId(text: string, kind: IdentifierKind, { config }: Command): CommandError {
  const { noun, finder, inSvc = finder } = kinds[kind];
  const wrongKind = wrongKindMessage(text, kind);
  const command = programOf(config.bin) === 'svc' ? inSvc : finder;
  return new CommandError({
    code: wrongKind === undefined ? 'not_found' : 'bad_input',
    message: wrongKind ?? `No ${noun} ${text}`,
    hint: `Name it by its id, ${identifierPrefixes[kind]}…: \`svcadmin ${command}\` shows it.`,
  });
}

/**
 * Returns a text that may be an id of one of the kinds. The server says whether there is such a record.
 * @throws CommandError `not_found` for a text without the prefix of any id, such as a name; `bad_input` for an id of another kind,
 * `secret_given` for a secret
 */
function requireId(text: string, accepted: readonly [IdentifierKind, ...IdentifierKind[]], command: Command) {
  const isRefund = text.startsWith(`rev_${identifierPrefixes.entry}`);
  const kind = isRefund ? 'entry' : identifierKind(text);
  if (kind !== undefined && accepted.includes(kind)) return text;
  refuseSecret(text);
  throw notAnId(text, accepted[0], command);
}

/** Makes the argument for an id of one of the kinds. A name is refused before the server is called. */
export const idArg = (...kinds: readonly [IdentifierKind, ...IdentifierKind[]]) =>
  Args.custom<string>({ parse: async (text, command) => requireId(text, kinds, command) });

/** Makes the flag for an id of one of the kinds. A name is refused before the server is called. */
export const idFlag = (kind: IdentifierKind) =>
  Flags.custom<string>({ parse: async (text, command) => requireId(text, [kind], command) });

/** Returns a text that may be a sub, which has no prefix, or an id that leads to a user. @throws CommandError as `requireId` */
function requireUser(text: string, command: Command): string {
  // A part of a secret can be as long as a sub.
  refuseSecret(text);
  if (/^[\w-]{43}$/.test(text)) return text;
  return requireId(text, ['user', 'enrollment', 'passkey', 'session'], command);
}

export const userArg = Args.custom<string>({ parse: async (text, command) => requireUser(text, command) });
export const userFlag = Flags.custom<string>({ parse: async (text, command) => requireUser(text, command) });
