import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { formatValue, localTime } from '../../output/format.ts';

export default class SessionsShow extends AdminCommand<typeof SessionsShow> {
  static override summary = 'Show a session: how far it came, when, and what became of its code.';
  static override examples = ['<%= config.bin %> sessions show ses_…'];
  static override args = { session: Args.string({ description: 'id of the session', required: true }) };

  async run() {
    const api = await this.api();
    const session = await api.sessions.show.query({ sessionId: this.args.session });
    const { timeline, code, failure, ...rest } = session;
    this.one(rest);
    if (failure) {
      const { reason, text, retryable, at } = failure;
      this.log(`No code: ${reason} at ${localTime(at)}: ${text}`);
      this.log(`         ${retryable ? 'the user may try again' : 'trying again will not help'}`);
    }
    if (code) this.log(`Code: ${formatValue('code', code)}`);
    for (const { at, event, note } of timeline)
      this.log(`  ${localTime(at)}  ${event}${note ? `: ${note}` : ''}`);
    return session;
  }
}
