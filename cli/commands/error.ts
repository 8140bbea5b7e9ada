import * as Args from '@oclif/core/args';
import { closest } from '../../contracts/closest.ts';
import { errorTable, isErrorCode } from '../../contracts/errors.ts';
import { adviseStatus } from '../../contracts/receiver-advice.ts';
import { CommandError } from '../errors/failure.ts';
import { adviseUsersOf, type ListedError, listedErrors, searchErrors } from '../errors/search.ts';
import { AdminCommand } from '../program/base-command.ts';
import { rewordFor } from '../program/program.ts';
import { refuseSecret } from '../secrets/input.ts';

const columns = ['code', 'httpStatus', 'kind', 'retryable', 'meaning'] as const;

export default class ErrorCommand extends AdminCommand<typeof ErrorCommand> {
  static override summary = 'Explain an error by its code or its message. Without an argument, list all.';
  static override description =
    'Knows codes of answers, errors of the redirect, reasons of failed sessions, and HTTP statuses, also those of webhook receivers. Needs no server.';
  static override examples = [
    '<%= config.bin %> error invalid_grant',
    '<%= config.bin %> error 429',
    '<%= config.bin %> error "Spend limit exceeded: minute bucket"',
    '<%= config.bin %> error',
  ];
  static override args = {
    code: Args.string({ description: 'code or message of the answer' }),
  };

  async run() {
    const { code } = this.args;
    if (code === undefined) return this.#showTable(listedErrors);
    refuseSecret(code);
    // The text is an error code, else an HTTP status, else a message.
    const named = listedErrors.find((error) => error.code === code);
    if (named) return this.#showError(named);
    const status = /^(HTTP )?(?<status>\d{3})$/i.exec(code)?.groups?.['status'];
    if (status !== undefined) return this.#showStatus(Number(status));
    // A single word is an error code, perhaps misspelled. Several words are an error message.
    const found = /\s/.test(code) ? searchErrors(code) : [];
    if (found.length > 1) return this.#showTable(found);
    const [only] = found;
    if (only) return this.#showError(only);
    throw this.#notFound(code);
  }

  #showTable(errors: readonly ListedError[]): ListedError[] {
    return this.showTable(
      errors.map((error) => adviseUsersOf(this.program, error)),
      columns,
    );
  }

  #showError(error: ListedError) {
    const { code, kind, meaning, advice, httpStatus, retryable } = adviseUsersOf(this.program, error);
    // Errors of redirects and reasons of failed sessions have no HTTP status and no exit code.
    if (!isErrorCode(code)) return this.showRecord({ code, meaning, advice });
    return this.showRecord({
      code,
      meaning,
      advice,
      httpStatus,
      retryable,
      exit: errorTable[code].exit,
      kind,
    });
  }

  /** Explains a status, which is either of this service or of a webhook receiver. */
  #showStatus(status: number) {
    const found = listedErrors.filter(({ httpStatus }) => httpStatus === status);
    const receiver = adviseStatus(status);
    if (found.length === 0 && receiver === undefined) throw this.#notFound(String(status));
    const ownErrors = found.length > 0 ? this.#showTable(found) : [];
    if (receiver !== undefined) {
      if (ownErrors.length > 0) this.log();
      this.log(rewordFor(this.program, `From a receiver of webhooks: ${receiver}.`));
    }
    return { status, errors: ownErrors, receiver: receiver ?? null };
  }

  #notFound(code: string): CommandError {
    const guess = closest(
      code,
      listedErrors.map((error) => error.code),
    );
    const message = `No error ${code}${guess ? `; did you mean ${guess}?` : ''}`;
    return new CommandError({ code: 'not_found', message });
  }
}
