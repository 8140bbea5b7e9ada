import { Args } from '@oclif/core';
import { errorTable, isErrorCode } from '../../contracts/errors.ts';
import { AdminCommand } from '../base-command.ts';
import { closest } from '../closest.ts';
import { errorGuide, redirectGuide } from '../error-guide.ts';
import { CommandError, exits } from '../failure.ts';

export default class ErrorCommand extends AdminCommand<typeof ErrorCommand> {
  static override summary = 'Explain an error of the API: what it means, and what to do.';
  static override examples = ['<%= config.bin %> error invalid_grant'];
  static override args = { code: Args.string({ description: 'code, as in the answer', required: true }) };

  async run() {
    const { code } = this.args;
    if (isErrorCode(code)) {
      const { status, text: meaning, retryable, exit } = errorTable[code];
      return this.one({ code, meaning, advice: errorGuide[code], httpStatus: status, retryable, exit });
    }
    const advice = redirectGuide[code];
    if (advice) return this.one({ code, meaning: 'An error of the redirect back to the partner', advice });
    const guess = closest(code, [...Object.keys(errorTable), ...Object.keys(redirectGuide)]);
    const message = `No error ${code}${guess ? `; did you mean ${guess}?` : ''}`;
    const sameStatus = Object.entries(errorTable).filter(([, { status }]) => String(status) === code);
    const hint = `Errors with HTTP status ${code}: ${sameStatus.map(([name]) => name).join(' ')}`;
    throw new CommandError({
      ...{ code: 'not_found', message, exit: exits.notFound },
      ...(sameStatus.length > 0 && { hint }),
    });
  }
}
