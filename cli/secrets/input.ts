import { answer } from '../careful/confirmation.ts';
import { usageError } from '../errors/failure.ts';

/** Characters that are read at most: more is no secret, and no line of a log that holds one. */
const longestInput = 65_536;

/** All of stdin. @throws CommandError where it is longer than 64 KiB */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > longestInput) throw usageError('More than 64 KiB were given on stdin');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What a person types without showing it. */
export async function typeHidden(message: string): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  return answer(password({ message }, { output: process.stderr }));
}
