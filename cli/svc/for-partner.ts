import type { Command, Interfaces } from '@oclif/core';
import type { AdminCommand } from '../program/base-command.ts';
import { rewordFor } from '../program/program.ts';

/** Arguments and flags that members do not have, because they are for operators, or because the login determines them. */
const operatorFields: ReadonlySet<string> = new Set([
  'partner',
  'ceiling-per-hour',
  'ceiling-per-minute',
  'no-ceiling',
  'reason',
  'source',
  'token-requests-per-minute',
  'userinfo-requests-per-minute',
]);

/** Commands whose `--to` names another URL for events. Members change the URL of their key instead. */
const sendElsewhere: ReadonlySet<string> = new Set(['deliveries resend', 'webhooks replay']);

function omitOperatorFields<V>(fields: Readonly<Record<string, V>>, command: string): Record<string, V> {
  const isOmitted = (name: string) =>
    operatorFields.has(name) || (name === 'to' && sendElsewhere.has(command));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isOmitted(name)));
}

interface Names {
  /** The name of the command in `svcadmin`. */
  inSvcadmin: string;
  /** The name of the command in `svc`. */
  inSvc: string;
  /** The summary. The default is the summary of `svcadmin`, reworded. */
  summary?: string | undefined;
}

/** What the texts of `svcadmin` say to operators, and what `svc` says instead. Members neither name nor see other partners. */
const wordings: readonly (readonly [forOperators: RegExp, forMembers: string])[] = [
  [/ (--partner )?ptr_…/g, ''],
  [/ of (a|the) partner\b/g, ''],
  [/, as operators see it/g, ''],
  [/ (For the|The) role (support|ops)\b[^.]*\./g, ''],
  [/address of the admin listener \(SVCADMIN_URL\)/g, 'address of the service (SVC_BASE_URL)'],
  [/SVCADMIN_URL/g, 'SVC_BASE_URL'],
  [/ \(SVCADMIN_CA\)/g, ''],
  [/for `wallets verify`/g, 'for `verify-statement`'],
];

/** Rewords a text about a command of `svcadmin` for a member. */
function reword(text: string, { inSvcadmin, inSvc }: Names): string {
  const renamed = text.replaceAll(`<%= config.bin %> ${inSvcadmin}`, `<%= config.bin %> ${inSvc}`);
  return wordings.reduce(
    (reworded, [forOperators, forMembers]) => reworded.replaceAll(forOperators, forMembers),
    rewordFor('svc', renamed),
  );
}

function rewordAll<V extends { description?: string | undefined }>(
  fields: Record<string, V>,
  names: Names,
): Record<string, V> {
  const reworded = Object.entries(fields).map(([name, field]) => [
    name,
    field.description === undefined ? field : { ...field, description: reword(field.description, names) },
  ]);
  return Object.fromEntries(reworded) as Record<string, V>;
}

/**
 * Returns where a command of `svcadmin` requires the partner: as an argument or as a flag; undefined if it does not. A flag that
 * may be absent is omitted from `svc`, where the server returns only records of the member's partner.
 */
function requiredPartner({
  args,
  flags,
}: Pick<Command.Class, 'args' | 'flags'>): 'args' | 'flags' | undefined {
  if (args['partner']) return 'args';
  return flags['partner']?.required ? 'flags' : undefined;
}

/** Makes a command of `svc` from a command of `svcadmin`. The command is always about the partner of the login. */
export function makeMemberCommand(Base: Command.Class, names: Names): Command.Class {
  // These fields are undefined if a class does not declare them, although oclif's types do not say so.
  const { args = {}, flags = {}, examples = [] } = Base as Partial<Command.Class>;
  abstract class PartnerCommand extends (Base as unknown as typeof AdminCommand)<typeof Command> {
    static override impliesPartner = requiredPartner({ args, flags });
    static override args = omitOperatorFields(args, names.inSvcadmin) as Interfaces.ArgInput;
    static override flags = rewordAll(
      omitOperatorFields(flags, names.inSvcadmin) as Interfaces.FlagInput,
      names,
    );
    static override baseFlags = rewordAll(Base.baseFlags, names) as typeof AdminCommand.baseFlags;
    static override summary = names.summary ?? reword(Base.summary ?? '', names);
    static override examples = [...new Set(examples.map((example) => reword(String(example), names)))];
  }
  if (Base.description !== undefined) PartnerCommand.description = reword(Base.description, names);
  return PartnerCommand as unknown as Command.Class;
}
