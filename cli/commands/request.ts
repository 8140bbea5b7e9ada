import * as Args from '@oclif/core/args';
import { AdminCommand } from '../program/base-command.ts';
import { explainStatus } from '../show/refusal.ts';

export default class Request extends AdminCommand<typeof Request> {
  static override summary = 'Show a request by the X-Request-Id of its answer.';
  static override description =
    'Requests of the public API are kept for a week if they name a known client, API key, integration or session. Under load, only a sample is kept. Changes by operators are kept forever. The role support sees those of other operators only for records of partners.';
  static override examples = ['<%= config.bin %> request req_…'];
  static override args = {
    request: Args.string({ description: 'X-Request-Id of the answer', required: true }),
  };

  async run() {
    const record = await this.api.requests.show.query({ requestId: this.args.request });
    if (record.request) this.showRecord(record.request);
    const { lines, next } = explainStatus(record);
    for (const line of lines) this.log(line);
    for (const { at, operatorName, action, target } of record.changes)
      this.showRecord({ at, operator: operatorName, action, target });
    if (!this.jsonEnabled()) for (const command of this.#next(next)) this.writeNotice(command);
    return record;
  }

  /** Members have the commands of clients only. Support activates their account. */
  #next(commands: readonly string[]): string[] {
    return commands
      .filter((command) => this.program === 'svcadmin' || command.startsWith('clients '))
      .map((command) => `Next: ${this.config.bin} ${command}`);
  }
}
