import { CommandError, exits } from '../errors/failure.ts';
import { findSecret } from '../show/identify.ts';

/** What a search that looked through as many records as one may says about the rest. */
export const continueHint = (stoppedAfter: string): string =>
  `There may be more: this looked through as many as one search may. Go on with --after ${stoppedAfter}, or narrow it.`;

/** @throws CommandError where the text holds a secret: it is not sent anywhere */
export function refuseSecret(text: string): void {
  const secret = findSecret(text);
  if (!secret) return;
  throw new CommandError({
    code: 'secret_given',
    message: `${secret.masked} is ${secret.name}: it was not looked up, and not sent anywhere`,
    exit: exits.usage,
    hint: `${secret.advice} It is in the history of your shell now: delete it there.`,
  });
}
