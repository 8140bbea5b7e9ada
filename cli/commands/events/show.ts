import { attemptColumns } from '../../deliveries/views.ts';
import { readReason } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { escapeControls } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class EventsShow extends AdminCommand<typeof EventsShow> {
  static override summary = 'Show an event, its body, and every attempt.';
  static override description =
    'The audit log keeps who read the body. For the role ops, claims and user_id are masked.';
  static override examples = ['<%= config.bin %> events show evt_…'];
  static override args = { event: idArg('event')({ description: 'id of the event', required: true }) };
  static override flags = { reason: readReason };

  async run() {
    const event = await this.readPersonalData((auditReason) =>
      this.api.events.show.query({ eventId: this.args.event, ...auditReason }),
    );
    const { attempts, body, ...rest } = event;
    this.showRecord(rest);
    this.log(`\n${escapeControls(body)}\n`);
    this.showTable(attempts, attemptColumns, { dropIfNarrow: ['trigger', 'durationMs'] });
    return event;
  }
}
