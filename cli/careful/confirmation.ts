import { CommandError, usageError } from '../errors/failure.ts';
import { printable } from '../output/format.ts';

/** A planned action, described for the person who confirms it. */
export interface Intent {
  /** The text that the person types to confirm. */
  id: string;
  /** A sentence that says what changes, for how many, and when. */
  consequence: string;
  /** What a dry run says if the change is made already. */
  unchanged?: string;
  /** Whether the action affects money or traffic of live users. */
  isLive: boolean;
  /** What the LIVE line names as affected. The default is the id. */
  affected?: string;
  /** When a person is asked. The default is `always`. */
  confirm?: Confirm;
}

/**
 * When a command asks a person at the terminal for confirmation, and when a script needs --yes.
 * - `always`: a person is asked. A script needs --yes.
 * - `only-at-terminal`: a person is asked. A script needs --yes only for a live action on a production server.
 * - `only-live-at-terminal`: like `only-at-terminal` for a live action. An action in test mode needs no confirmation.
 *
 * Commands that had no question in version 0.8.0 use one of the last two, so that scripts written for it still work.
 */
export type Confirm = 'always' | 'only-at-terminal' | 'only-live-at-terminal';

interface Situation {
  confirm: Confirm;
  isLive: boolean;
  hasYes: boolean;
  /** Whether there is a terminal at which a person can be asked. */
  isInteractive: boolean;
  isProduction: boolean;
}

/** Decides whether to act, to ask first, or to refuse because there is no terminal. */
export function chooseStep(situation: Situation): 'act' | 'ask' | 'refuse' {
  const { confirm, isLive, hasYes, isInteractive, isProduction } = situation;
  if (hasYes) return 'act';
  if (confirm === 'only-live-at-terminal' && !isLive) return 'act';
  if (isInteractive) return 'ask';
  // Scripts for version 0.8.0 pass no --yes. Only an action on live users of a production server needs it from all scripts.
  const scriptNeedsYes = confirm === 'always' || (isLive && isProduction);
  return scriptNeedsYes ? 'refuse' : 'act';
}

/** Refuses an action, because there is no terminal at which a person could confirm it. @throws CommandError exit 2, always */
export function refuseUnattended({ consequence }: Pick<Intent, 'consequence'>): never {
  throw usageError('This needs --yes without a terminal; nothing was done', consequence);
}

/** Asks the person to type the id. @throws CommandError exit 1 if another text is typed, exit 130 on Ctrl-C or Ctrl-D */
export async function confirmById({ id, consequence }: Intent): Promise<void> {
  process.stderr.write(`${printable(consequence)}\n`);
  const { input } = await import('@inquirer/prompts');
  const typed = await readAnswer((context) => input({ message: printable(`Type ${id} to go on:`) }, context));
  if (typed.trim() === id) return;
  throw new CommandError({
    code: 'not_confirmed',
    message: 'Not confirmed; nothing was done',
  });
}

/** Where a question is shown, and what ends it. */
interface QuestionContext {
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** The errors with which a question ends that has no answer. */
const endsOfQuestion: readonly string[] = ['ExitPromptError', 'AbortPromptError'];

/**
 * Returns what a person types as the answer to a question.
 * @param ask shows the question
 * @throws CommandError exit 130 on Ctrl-C, Ctrl-D or another end of the input
 */
export async function readAnswer(ask: (context: QuestionContext) => Promise<string>): Promise<string> {
  const { stdin } = process;
  const ending = new AbortController();
  // At Ctrl-D, the question only pauses its input. Nothing would hold the process then, and it would exit with 0.
  // An answer pauses the input too, but is there before the abort.
  const onPause = () => void setImmediate(() => ending.abort());
  stdin.once('pause', onPause);
  try {
    return await ask({ output: process.stderr, signal: ending.signal });
  } catch (error) {
    if (!(error instanceof Error && endsOfQuestion.includes(error.name))) throw error;
    throw new CommandError({ code: 'cancelled', message: 'Cancelled' });
  } finally {
    stdin.off('pause', onPause);
  }
}
