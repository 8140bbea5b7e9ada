import { TRPCError } from '@trpc/server';
import { ZodError, type z } from 'zod';
import type { ApiError } from '../../platform/errors.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { instructionOf } from '../../platform/validation-words.ts';
import { type FaultMessages, faultMessages } from './messages/faults.ts';

/** What is wrong with an input, or why a call was refused. */
export interface Fault {
  text: string;
  /** Whether the text is English. Refusals that no typed value causes have no translation. */
  isEnglish: boolean;
  /** The name of the field, if the schema names one. */
  name?: string | undefined;
}

/** The cause of an error that is about what was typed into one field of a form. */
export class FieldFault extends Error {
  readonly field: string;
  constructor(field: string) {
    super(`a fault of the field ${field}`);
    this.field = field;
  }
}

type Key = keyof FaultMessages;

/** The messages for descriptions of errors. What a group matches is shown in the message. */
const described: readonly (readonly [RegExp, Key])[] = [
  [/^expected an e-mail address$/, 'email'],
  [/^(.{0,128}).* is not the host name of a shop$/s, 'host'],
  [/^expected a colour/, 'colour'],
  [/^expected a time/, 'time'],
  [/^expected a status/, 'status'],
  [/^client_reference_id must/, 'reference'],
  [/^must not contain .*invisible/, 'invisible'],
  [/^must contain a letter/, 'letter'],
  [/letters of one direction/, 'direction'],
  [/must be https|needs (an )?https:|^expected an https:|localhost is /, 'https'],
  [/^(\S{1,128}) is not a (public address|full host name)$/, 'publicHost'],
  [/^port \d+ |must have a port /, 'port'],
  [/must not have the parameter (\w+)/, 'parameter'],
  [/^(Redirect URI |the URL )|^must (be ASCII|be an absolute|have|name|not have) /, 'address'],
  [/^at least one claim$/, 'claims'],
  [/^at least (-?[\d.]+ USD)$/, 'least'],
  [/^at most (-?[\d.]+ USD)$/, 'most'],
  [/^(at least one|name shops|needed to) /, 'empty'],
  [/^Choose one of the options$/, 'choice'],
  [/^must be later than the beginning/, 'period'],
  [/^There is no .* to remove/s, 'absent'],
  [/^The last .* cannot be removed$/, 'last'],
  [/^The operator allows at most (\d+)/, 'ceiling'],
  [/as a number, such as/, 'number'],
  [/as an amount, such as/, 'amount'],
  [/^Give the passkey a name/, 'passkeyName'],
  [/^No login waits for this code/, 'deviceCode'],
  [/^This login has ended/, 'endedLogin'],
  [/^This invitation was used/, 'invitation'],
  [/^The logo |^the file must have |^expected a file /, 'logo'],
  [/^No [A-Za-z ]+? (\S.*)$/s, 'record'],
];

type Issue = z.core.$ZodIssue;

/** The message for a fault that a schema describes by its code only. */
function messageOfIssue(issue: Issue): readonly [Key, ...(number | bigint)[]] {
  if (issue.code === 'too_small' && ['number', 'int'].includes(issue.origin)) return ['least', issue.minimum];
  if (issue.code === 'too_small') return ['empty'];
  if (issue.code === 'too_big') {
    if (issue.origin === 'string') return ['long', issue.maximum];
    return [issue.origin === 'array' ? 'many' : 'most', issue.maximum];
  }
  if (issue.code === 'invalid_type') {
    if (issue.expected === 'int') return ['whole'];
    return [issue.expected === 'number' ? 'number' : 'empty'];
  }
  return [issue.code === 'invalid_value' ? 'choice' : 'value'];
}

function messageOfText(text: string): readonly [Key, string | undefined] | undefined {
  for (const [pattern, key] of described) {
    const found = pattern.exec(text);
    if (found) return [key, found[1]];
  }
  return undefined;
}

/** The field that the refusal of a redirect URI is about. No schema names it, because the rules depend on the client's mode. */
const fieldOfRefusal = (message: string): string | undefined =>
  message.startsWith('Redirect URI ') ? 'redirectUris' : undefined;

/** The faults that an error tells, in the member's language where it is possible. English ones are as the schemas have them. */
export function faultsOf(error: ApiError, language: Language): readonly Fault[] {
  const { cause, code, message } = error;
  const words = language === 'en' ? undefined : faultMessages[language];
  const say = (text: string, fallback?: readonly [Key, ...unknown[]]): Fault => {
    const [key, value = ''] = messageOfText(text) ?? fallback ?? [];
    if (!words || key === undefined) return { text: instructionOf(text) ?? text, isEnglish: true };
    return { text: words[key].replace('{1}', String(value)), isEnglish: false };
  };
  if (cause instanceof TRPCError && cause.cause instanceof ZodError)
    return cause.cause.issues.map((issue) => ({
      ...say(issue.message, messageOfIssue(issue)),
      // Of `filter.since` and `emails.0`, these are `since` and `emails`.
      name: issue.path.findLast((part) => typeof part === 'string'),
    }));
  const name = cause instanceof FieldFault ? cause.field : fieldOfRefusal(message);
  return [{ ...say(message, code === 'bad_input' ? ['value'] : undefined), name }];
}
