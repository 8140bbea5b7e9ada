import type { Command } from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import { dryRunEndIn } from '../connection/client.ts';
import { toFailure } from '../errors/failure.ts';
import { isInteractive } from '../output/terminal.ts';
import { AdminCommand } from '../program/base-command.ts';
import { chooseStep, confirmById, type Intent, refuseUnattended } from './confirmation.ts';

/** What a dry run says if the change is made already, unless the command says more. */
export const unchangedByDefault = 'nothing, because this is done already.';

/** A command with serious effects: it says what it will do and asks for confirmation. */
export abstract class CarefulCommand<T extends typeof Command> extends AdminCommand<T> {
  static override baseFlags = {
    ...AdminCommand.baseFlags,
    yes: Flags.boolean({
      char: 'y',
      description: 'skip the question; needed without a terminal',
      helpGroup: 'GLOBAL',
    }),
    'dry-run': Flags.boolean({
      description: 'show what would be done, and change nothing',
      helpGroup: 'GLOBAL',
    }),
  };

  #isTrying = false;

  protected get isDryRun(): boolean {
    return (this.flags as { 'dry-run'?: boolean })['dry-run'] === true;
  }

  /** Shows what a command would do. */
  protected showDryRun(id: string, consequence: string): DryRun {
    this.log(`Would do: ${consequence}`);
    return { dryRun: true, id, would: consequence };
  }

  /**
   * Runs `act` with calls that the server only checks. Nothing that `act` shows is printed.
   * @returns whether the real run would change something
   * @throws what the real run would throw
   */
  protected async tryOut(act: () => Promise<unknown>): Promise<boolean> {
    this.#isTrying = true;
    try {
      await this.withDryRunApi(act);
    } catch (error) {
      const end = dryRunEndIn(error);
      if (!end) throw error;
      return end.changes;
    } finally {
      this.#isTrying = false;
    }
    return false;
  }

  /**
   * Has the server check the calls of `act`, so that a change that it refuses is neither announced nor asked about.
   * @throws what the real run would throw
   */
  async #requirePossible(act: () => Promise<unknown>): Promise<void> {
    try {
      await this.tryOut(act);
    } catch (error) {
      // A server of an earlier build has no dry runs, so its real call checks.
      if (toFailure(error, this.connectionSource).code !== 'route_not_found') throw error;
    }
  }

  override log(message = ''): void {
    if (!this.#isTrying) super.log(message);
  }

  protected override writeNotice(text: string): void {
    if (!this.#isTrying) super.writeNotice(text);
  }

  /**
   * Runs `act` after confirmation. The server checks the calls of `act` before. With --dry-run, nothing else is done; returns what
   * would have changed.
   * @throws what the real run would throw, also in a dry run
   * @throws CommandError exit 3 without a token, exit 2 without a terminal and without --yes, exit 1 if the person does not confirm
   */
  protected async runConfirmed<V>(intent: Intent, act: () => Promise<V>): Promise<V | DryRun> {
    // A dry run calls no server in some commands. It needs a token all the same, and warns as the real run does.
    this.prepareApi();
    const { id, consequence, isLive, affected = id, confirm = 'always' } = intent;
    const { unchanged = unchangedByDefault } = intent;
    if (this.isDryRun) return this.showDryRun(id, (await this.tryOut(act)) ? consequence : unchanged);
    await this.#requirePossible(act);
    const isProduction = (await this.readEnvironment()) === 'production';
    if (isLive) this.warnLive(affected);
    const hasYes = (this.flags as { yes?: boolean }).yes === true;
    const step = chooseStep({ confirm, isLive, hasYes, isInteractive: isInteractive(), isProduction });
    if (step === 'refuse') refuseUnattended(intent);
    // The question contains the consequence. Without a question, the person reads it before the action.
    if (step === 'ask') await confirmById(intent);
    else if (!this.jsonEnabled()) this.writeNotice(consequence);
    return act();
  }
}

export interface DryRun {
  dryRun: true;
  id: string;
  would: string;
}
