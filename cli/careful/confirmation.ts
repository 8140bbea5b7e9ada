import { CommandError, exits, usageError } from '../errors/failure.ts';

/** A planned action, described for the person who confirms it. */
export interface Intent {
  /** The text that the person types to confirm. */
  id: string;
  /** A sentence that says what changes, for how many, and when. */
  consequence: string;
  /** Whether the action affects money or traffic of live users. */
  isLive: boolean;
  /** What the LIVE line names as affected. The default is the id. */
  affected?: string;
  /** When to ask. The default is `always`. */
  care?: Care;
}

/**
 * When a command asks for confirmation.
 * - `always`: the command asks a person at a terminal. A script needs --yes.
 * - `attended`: the command asks a person at a terminal.
 * - `live`: the command asks a person at a terminal if live users or money are affected.
 *
 * Commands with `attended` or `live` had no question in 0.8.0. They refuse a script without --yes only for live actions on a
 * production server, so that other scripts still work.
 */
export type Care = 'always' | 'attended' | 'live';

interface Situation {
  care: Care;
  isLive: boolean;
  /** Whether --yes is given. */
  hasYes: boolean;
  /** Whether there is a terminal at which a person can be asked. */
  isInteractive: boolean;
  isProduction: boolean;
}

/** Decides whether to act, to ask first, or to refuse because there is no terminal. */
export function chooseStep(situation: Situation): 'act' | 'ask' | 'refuse' {
  const { care, isLive, hasYes, isInteractive, isProduction } = situation;
  if (hasYes || (care === 'live' && !isLive)) return 'act';
  if (isInteractive) return 'ask';
  return care === 'always' || (isLive && isProduction) ? 'refuse' : 'act';
}

/** Refuses an action, because there is no terminal at which a person could confirm it. @throws CommandError exit 2, always */
export function refuseUnattended({ consequence }: Pick<Intent, 'consequence'>): never {
  throw usageError('This needs --yes without a terminal; nothing was done', consequence);
}

/** Asks the person to type the id. @throws CommandError exit 1 if another text is typed, exit 130 on Ctrl-C */
export async function confirmById({ id, consequence }: Intent): Promise<void> {
  process.stderr.write(`${consequence}\n`);
  const { input } = await import('@inquirer/prompts');
  const typed = await readAnswer(input({ message: `Type ${id} to go on:` }, { output: process.stderr }));
  if (typed.trim() === id) return;
  throw new CommandError({
    code: 'not_confirmed',
    message: 'Not confirmed; nothing was done',
    exit: exits.failure,
  });
}

/** Returns what a person types as the answer to a question. @throws CommandError exit 130 on Ctrl-C or Ctrl-D */
export async function readAnswer(question: Promise<string>): Promise<string> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ExitPromptError') throw error;
    throw new CommandError({ code: 'cancelled', message: 'Cancelled', exit: exits.cancelled });
  }
}
