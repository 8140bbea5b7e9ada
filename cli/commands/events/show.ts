import { Args } from '@oclif/core';
import { attemptColumns } from '../../attempts.ts';
import { AdminCommand } from '../../base-command.ts';
import { harmless } from '../../output/format.ts';

export default class EventsShow extends AdminCommand<typeof EventsShow> {
  static override summary = 'Show an event, its body, and every attempt.';
  static override examples = ['<%= config.bin %> events show evt_…'];
  static override args = { event: Args.string({ description: 'id of the event', required: true }) };

  async run() {
    const api = await this.api();
    const event = await api.events.show.query({ eventId: this.args.event });
    const { attempts, body, ...rest } = event;
    this.one(rest);
    this.log(`\n${harmless(body)}\n`);
    this.many(attempts, attemptColumns, ['trigger', 'durationMs']);
    return event;
  }
}
