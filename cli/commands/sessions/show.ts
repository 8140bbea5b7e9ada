import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { fieldsBesideTimeline, renderSession } from '../../show/sessions.ts';

export default class SessionsShow extends AdminCommand<typeof SessionsShow> {
  static override summary = 'Show a session: its steps, their times, and what became of its code.';
  static override examples = ['<%= config.bin %> sessions show ses_…'];
  static override args = { session: idArg('session')({ description: 'id of the session', required: true }) };

  async run() {
    const session = await this.api.sessions.show.query({ sessionId: this.args.session });
    this.showRecord(fieldsBesideTimeline(session));
    for (const line of renderSession(session)) this.log(line);
    return session;
  }
}
