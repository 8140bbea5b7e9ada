import { readAnswer } from '../careful/confirmation.ts';
import { CommandError, usageError } from '../errors/failure.ts';
import { findSecret } from '../show/identify.ts';

/** The most bytes that are read from stdin. A secret, or a line of a log with a secret, is shorter. */
const mostInputBytes = 65_536;

/** Reads all of stdin. @throws CommandError if it is longer than 64 KiB */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > mostInputBytes) throw usageError('More than 64 KiB were given on stdin');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads a text that a person types, without showing it. */
export async function typeHidden(message: string): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  return readAnswer((context) => password({ message }, context));
}

/** Refuses a text that contains a secret, so that the secret is not sent. @throws CommandError if there is a secret */
export function refuseSecret(text: string): void {
  const secret = findSecret(text);
  if (!secret) return;
  throw new CommandError({
    code: 'secret_given',
    message: `${secret.masked} is ${secret.name}: it was not looked up, and not sent anywhere`,
    hint: `${secret.advice} It is in the history of your shell now: delete it there.`,
  });
}
