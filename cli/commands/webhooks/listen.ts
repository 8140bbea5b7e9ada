import { setTimeout as sleep } from 'node:timers/promises';
import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import type { AdminApi } from '../../client.ts';
import { usageError } from '../../failure.ts';

type Delivery = Awaited<ReturnType<AdminApi['webhooks']['relay']['query']>>['deliveries'][number];

/** Milliseconds between two questions to the server. */
const interval = 1_000;
const timeoutMs = 10_000;

export default class WebhooksListen extends AdminCommand<typeof WebhooksListen> {
  static override summary =
    'Relay the events of a test key to this machine, with valid signatures, until interrupted.';
  static override description = 'The deliveries to the URL of the key go on as ever; this is a copy.';
  static override examples = [
    '<%= config.bin %> webhooks listen key_… --forward-to http://localhost:4000/hooks',
  ];
  static override args = { key: Args.string({ description: 'id of the API key', required: true }) };
  static override flags = {
    'forward-to': Flags.string({ description: 'where to send them', required: true }),
  };

  async run(): Promise<void> {
    const target = this.flags['forward-to'];
    if (!URL.canParse(target) || !/^https?:\/\/[^/]/i.test(target))
      throw usageError(`${target} is not an address such as http://localhost:4000/hooks`);
    const { key: keyId } = this.args;
    const api = await this.api();
    const seen = new Set<string>();
    let { until: since } = await api.webhooks.relay.query({ keyId });
    /** The page to go on with, and when its first one was asked for. */
    let paging: { after: string; began: string } | undefined;
    this.notice(`Relaying events of ${keyId} to ${target}; Ctrl-C ends.`);
    for (;;) {
      const page = paging ? { after: paging.after } : {};
      const { until, after, deliveries } = await api.webhooks.relay.query({ keyId, since, ...page });
      for (const delivery of deliveries.filter(({ deliveryId }) => !seen.has(deliveryId))) {
        seen.add(delivery.deliveryId);
        this.#report(delivery, await forward(target, delivery));
      }
      const began = paging?.began ?? until;
      paging = after === null ? undefined : { after, began };
      if (paging) continue;
      since = began;
      await sleep(interval);
    }
  }

  /** One line each; for programs, one JSON value a line. */
  #report({ eventId, event }: Delivery, answer: number | string): void {
    const line = this.jsonEnabled()
      ? JSON.stringify({ eventId, event, answer })
      : `${eventId}  ${event}  ${answer}`;
    process.stdout.write(`${line}\n`);
  }
}

/** The status of the answer, or why there is none. */
async function forward(target: string, { headers, body }: Delivery): Promise<number | string> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { status } = await fetch(target, { method: 'POST', headers, body, signal, redirect: 'manual' });
    return status;
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}
