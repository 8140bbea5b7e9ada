import * as Args from '@oclif/core/args';
import { isErrorCode } from '../../contracts/errors.ts';
import { usageError } from '../errors/failure.ts';
import { readReason } from '../flags/flags.ts';
import { AdminCommand } from '../program/base-command.ts';
import { refuseSecret } from '../secrets/input.ts';
import { identify } from '../show/identify.ts';
import { loaders } from '../show/loaders.ts';

export default class Show extends AdminCommand<typeof Show> {
  static override summary = 'Show the record of any id, with every related id.';
  static override description =
    'Takes any id: partner, client, API key, integration, session, enrollment, user, sub, event, delivery, ledger entry, wallet, request, operator, job. The id may be in an address or a sentence. A secret is recognised and not sent.';
  static override examples = [
    '<%= config.bin %> show ses_…',
    '<%= config.bin %> show https://verify.example/verify/session/ses_…',
  ];
  static override args = {
    id: Args.string({ description: 'any id, or text that contains one', required: true }),
  };
  static override flags = { reason: readReason };

  async run() {
    const text = this.args.id;
    refuseSecret(text);
    const identified = identify(text);
    if (!identified) throw usageError(`${text} holds no id that is known`, this.#advice(text));
    const { kind, id } = identified;
    const shown = await this.readPersonalData((auditReason) => loaders[kind](this.api, id, auditReason));
    const { record, related, next } = shown;
    this.showRecord(shown.fields ?? record);
    for (const line of shown.lines ?? []) this.log(line);
    if (related.length > 0) {
      this.log('');
      this.showTable(related, ['kind', 'id', 'note']);
    }
    if (!this.jsonEnabled())
      for (const command of next) this.writeNotice(`Next: ${this.config.bin} ${command}`);
    return { kind, id, record, related, next };
  }

  #advice(text: string): string {
    if (isErrorCode(text)) return `An error is explained by \`svcadmin error ${text}\`.`;
    return 'Ids begin with ptr_, cli_, key_, int_, ses_, enr_, usr_, evt_, dlv_, txn_, req_ or opr_. By name, host or last four: `svcadmin partners list --search TEXT`.';
  }
}
