import { Args } from '@oclif/core';
import { errorTable, isErrorCode } from '../../contracts/errors.ts';
import { AdminCommand } from '../base-command.ts';
import { closest } from '../closest.ts';
import { type ListedError, listedErrors, searchErrors } from '../error-search.ts';
import { CommandError, exits } from '../failure.ts';
import { refuseSecret } from '../searches.ts';

const columns = ['code', 'httpStatus', 'kind', 'retryable', 'meaning'] as const;

export default class ErrorCommand extends AdminCommand<typeof ErrorCommand> {
  static override summary = 'Explain an error by its code or its message. Without an argument, list all.';
  static override description =
    'Knows codes of answers, errors of the redirect, and reasons of failed sessions. Needs no server.';
  static override examples = [
    '<%= config.bin %> error invalid_grant',
    '<%= config.bin %> error "Spend limit exceeded: minute bucket"',
    '<%= config.bin %> error',
  ];
  static override args = {
    code: Args.string({ description: 'code or message of the answer' }),
  };

  async run() {
    const { code } = this.args;
    if (code === undefined) return this.many([...listedErrors], columns);
    refuseSecret(code);
    const named = listedErrors.find((error) => error.code === code);
    if (named) return this.#explain(named);
    // One word is a code, perhaps misspelt. Several words are a message.
    const found = /\s/.test(code) ? searchErrors(code) : [];
    if (found.length > 1) return this.many(found, columns);
    const [only] = found;
    if (only) return this.#explain(only);
    throw this.#unknown(code);
  }

  #explain(error: ListedError) {
    const { code, kind, meaning, advice, httpStatus, retryable } = error;
    if (!isErrorCode(code)) return this.one({ code, meaning, advice });
    return this.one({ code, meaning, advice, httpStatus, retryable, exit: errorTable[code].exit, kind });
  }

  #unknown(code: string): CommandError {
    const guess = closest(
      code,
      listedErrors.map((error) => error.code),
    );
    const message = `No error ${code}${guess ? `; did you mean ${guess}?` : ''}`;
    const sameStatus = listedErrors.filter(({ httpStatus }) => String(httpStatus) === code);
    const hint = `Errors with HTTP status ${code}: ${sameStatus.map((error) => error.code).join(' ')}`;
    return new CommandError({
      ...{ code: 'not_found', message, exit: exits.notFound },
      ...(sameStatus.length > 0 && { hint }),
    });
  }
}
