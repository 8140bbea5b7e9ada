import { type Command, Flags } from '@oclif/core';
import { AdminCommand } from './base-command.ts';
import { CommandError, exits, usageError } from './failure.ts';
import { isInteractive } from './output/terminal.ts';

/** What is about to be done, in words for the person who confirms it. */
export interface Intent {
  /** What the person types to confirm. */
  id: string;
  /** A sentence: what happens, what breaks, and when. */
  consequence: string;
  /** Money or traffic of live users is touched. */
  live: boolean;
}

/** A command that destroys, rotates or moves live money: asks first, and can say what it would do. */
export abstract class CarefulCommand<T extends typeof Command> extends AdminCommand<T> {
  static override baseFlags = {
    ...AdminCommand.baseFlags,
    yes: Flags.boolean({
      char: 'y',
      description: 'do it without asking; needed without a terminal',
      helpGroup: 'GLOBAL',
    }),
    'dry-run': Flags.boolean({ description: 'only say what would be done', helpGroup: 'GLOBAL' }),
  };

  protected get isDryRun(): boolean {
    return this.safety['dry-run'] === true;
  }

  private get safety(): { yes?: boolean; 'dry-run'?: boolean } {
    return this.flags as { yes?: boolean; 'dry-run'?: boolean };
  }

  /**
   * Does `act` where it is confirmed; under --dry-run nothing, and the value says what would have been done.
   * @throws CommandError exit 2 off a terminal without --yes, exit 1 where the person does not confirm
   */
  protected async confirmed<V>(intent: Intent, act: () => Promise<V>): Promise<V | DryRun> {
    if (this.isDryRun) {
      this.log(`Would do: ${intent.consequence}`);
      return { dryRun: true, id: intent.id, would: intent.consequence };
    }
    if (intent.live) this.warnLive(intent.id);
    if (!this.safety.yes) await ask(intent);
    return act();
  }
}

export interface DryRun {
  dryRun: true;
  id: string;
  would: string;
}

async function ask({ id, consequence }: Intent): Promise<void> {
  if (!isInteractive())
    throw usageError('This needs --yes without a terminal; nothing was done', consequence);
  process.stderr.write(`${consequence}\n`);
  const { input } = await import('@inquirer/prompts');
  const typed = await input({ message: `Type ${id} to go on:` }, { output: process.stderr }).catch(() => '');
  if (typed.trim() === id) return;
  throw new CommandError({
    code: 'not_confirmed',
    message: 'Not confirmed; nothing was done',
    exit: exits.failure,
  });
}
