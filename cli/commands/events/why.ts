import { idArg } from '../../flags/ids.ts';
import { localTimes } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { rewordFor } from '../../program/program.ts';

export default class EventsWhy extends AdminCommand<typeof EventsWhy> {
  static override summary = 'Explain what became of an event, and what to do.';
  static override examples = ['<%= config.bin %> events why evt_…'];
  static override args = { event: idArg('event')({ description: 'id of the event', required: true }) };

  async run() {
    const timeline = await this.api.events.why.query({ eventId: this.args.event });
    for (const sentence of timeline.story) this.log(localTimes(sentence));
    if (timeline.advice) this.log(rewordFor(this.program, `→ ${timeline.advice}`));
    return timeline;
  }
}
