import { CommandError, exits, usageError } from '../errors/failure.ts';

/** What is about to be done, in words for the person who confirms it. */
export interface Intent {
  /** What the person types to confirm. */
  id: string;
  /** What changes, for how many, and when. */
  consequence: string;
  /** Money or traffic of live users is touched. */
  live: boolean;
  /** What the LIVE line names; default: the id. */
  where?: string;
  /** Without it, a question each time. */
  care?: Care;
}

/**
 * When a command asks first. Scripts without --yes are refused where it is `always`. Otherwise they are
 * refused only for what is live on a production server, because these commands had no question in 0.8.0.
 * - `always`: a person is asked, and a script needs --yes
 * - `attended`: a person at a terminal is asked
 * - `live`: a person is asked where live users or money are touched
 */
export type Care = 'always' | 'attended' | 'live';

interface Situation {
  care: Care;
  live: boolean;
  yes: boolean;
  interactive: boolean;
  production: boolean;
}

/** Whether to act, to ask first, or to refuse because there is no terminal to ask at. */
export function confirmation(situation: Situation): 'act' | 'ask' | 'refuse' {
  const { care, live, yes, interactive, production } = situation;
  if (yes || (care === 'live' && !live)) return 'act';
  if (interactive) return 'ask';
  return care === 'always' || (live && production) ? 'refuse' : 'act';
}

/** @throws CommandError exit 2: there is no terminal to ask at */
export function refuseUnattended({ consequence }: Pick<Intent, 'consequence'>): never {
  throw usageError('This needs --yes without a terminal; nothing was done', consequence);
}

/** @throws CommandError exit 1 where another text than the id is typed, exit 130 on Ctrl-C */
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

/** What a person answers. @throws CommandError exit 130 where the person ends the question by Ctrl-C or Ctrl-D */
export async function answer(question: Promise<string>): Promise<string> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ExitPromptError') throw error;
    throw new CommandError({ code: 'cancelled', message: 'Cancelled', exit: exits.cancelled });
  }
}
