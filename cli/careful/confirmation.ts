import { CommandError, exits, usageError } from '../errors/failure.ts';

/** A planned action, described for the person who confirms it. */
export interface Intent {
  /** The text that the person types to confirm. */
  id: string;
  /** What changes, for how many, and when. */
  consequence: string;
  /** Whether money or traffic of live users is affected. */
  live: boolean;
  /** The subject that the LIVE line names. The default is the id. */
  where?: string;
  /** When to ask. The default is `always`. */
  care?: Care;
}

/**
 * When a command asks for confirmation. With `always`, a script without --yes is refused. With the other values, it is
 * refused only for live actions on a production server, because these commands had no question in 0.8.0.
 * - `always`: a person is asked, and a script needs --yes
 * - `attended`: a person at a terminal is asked
 * - `live`: a person is asked if live users or money are affected
 */
export type Care = 'always' | 'attended' | 'live';

interface Situation {
  care: Care;
  live: boolean;
  yes: boolean;
  interactive: boolean;
  production: boolean;
}

/** Decides whether to act, to ask first, or to refuse because there is no terminal. */
export function confirmation(situation: Situation): 'act' | 'ask' | 'refuse' {
  const { care, live, yes, interactive, production } = situation;
  if (yes || (care === 'live' && !live)) return 'act';
  if (interactive) return 'ask';
  return care === 'always' || (live && production) ? 'refuse' : 'act';
}

/** @throws CommandError exit 2, because there is no terminal to ask at */
export function refuseUnattended({ consequence }: Pick<Intent, 'consequence'>): never {
  throw usageError('This needs --yes without a terminal; nothing was done', consequence);
}

/** Asks the person to type the id. @throws CommandError exit 1 if another text is typed, exit 130 on Ctrl-C */
export async function confirmById({ id, consequence }: Intent): Promise<void> {
  process.stderr.write(`${consequence}\n`);
  const { input } = await import('@inquirer/prompts');
  const typed = await answer(input({ message: `Type ${id} to go on:` }, { output: process.stderr }));
  if (typed.trim() === id) return;
  throw new CommandError({
    code: 'not_confirmed',
    message: 'Not confirmed; nothing was done',
    exit: exits.failure,
  });
}

/** Returns a person's answer to a question. @throws CommandError exit 130 on Ctrl-C or Ctrl-D */
export async function answer(question: Promise<string>): Promise<string> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ExitPromptError') throw error;
    throw new CommandError({ code: 'cancelled', message: 'Cancelled', exit: exits.cancelled });
  }
}
