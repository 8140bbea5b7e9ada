import { CarefulCommand } from '../../careful/careful-command.ts';
import { count } from '../../careful/previews.ts';
import { mostPerPage } from '../../flags/flags.ts';
import { holdEnd } from '../../flags/hold-end.ts';
import { idArg } from '../../flags/ids.ts';
import { localTime } from '../../output/format.ts';

export default class WebhooksPause extends CarefulCommand<typeof WebhooksPause> {
  static override summary = 'Have the events of an API key wait until a time: nothing is sent to its URL.';
  static override description =
    'For a receiver that is down for a known time. What waits is sent after, in the order in which it was due; nothing is lost or sent twice. Attempts under way end as usual. At most 7 days; another time replaces the one before.';
  static override examples = [
    '<%= config.bin %> webhooks pause key_… --until 4h',
    '<%= config.bin %> webhooks pause key_… --until 2026-07-01T09:00',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    until: holdEnd({
      description: 'time, local unless it names a zone, or a duration from now',
      required: true,
    }),
  };

  async run() {
    const { until } = this.flags;
    const { keyId: id, url, mode } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const pending = await this.api.deliveries.list.query({
      keyId: id,
      status: 'pending',
      limit: mostPerPage,
    });
    const consequence = `Nothing is sent to ${url ?? 'the URL'} of ${id} (${mode}) until ${localTime(until)}. ${count(pending.length, 'pending delivery')} and all events until then wait, and are sent after.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.webhooks.pause.mutate({ keyId: id, until })),
    );
  }
}
