import { setTimeout as sleep } from 'node:timers/promises';
import { Args, Flags } from '@oclif/core';
import { relayEvents, requireTarget } from '../../deliveries/relay.ts';
import { toFailure } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { testKeyOf } from '../test-records.ts';

/** How often to ask whether the portal allows changes again, in milliseconds. */
const askAgainMs = 5_000;

export default class Listen extends AdminCommand<typeof Listen> {
  static override summary =
    'Relay the events of a test key to this machine, with valid signatures, until interrupted.';
  static override description =
    'The deliveries to the URL of the key continue; this is a copy. Shows the signing secret, and why the receiver refused. Needs a passkey of the last 30 minutes, and waits where it is older.';
  static override examples = [
    '<%= config.bin %> listen --forward-to http://localhost:4000/hooks',
    '<%= config.bin %> listen key_… --forward-to http://localhost:4000/hooks',
  ];
  static override args = {
    key: Args.string({ description: 'id of the API key; without it, your only active test key' }),
  };
  static override flags = {
    'forward-to': Flags.string({ description: 'URL of the local receiver', required: true }),
  };

  #isWaiting = false;

  async run(): Promise<void> {
    const target = this.flags['forward-to'];
    requireTarget(target);
    const api = await this.api();
    await relayEvents({
      api,
      target,
      json: this.jsonEnabled(),
      keyId: this.args.key ?? (await testKeyOf(api)),
      notice: (text) => this.notice(text),
      onError: (error) => this.#wait(error),
    });
  }

  /** Waits until the portal allows changes again. No event is lost meanwhile. */
  async #wait(error: unknown): Promise<void> {
    const { code, hint = '' } = toFailure(error, this.connectionSource);
    if (code !== 'passkey_required') throw error;
    if (!this.#isWaiting)
      this.notice(`The passkey is older than 30 minutes. ${hint} This goes on by itself then.`);
    this.#isWaiting = true;
    await sleep(askAgainMs);
  }
}
