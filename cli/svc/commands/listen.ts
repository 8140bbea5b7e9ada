import { setTimeout as sleep } from 'node:timers/promises';
import * as Flags from '@oclif/core/flags';
import { relayEvents, requireTarget } from '../../deliveries/relay.ts';
import { toFailure } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { findOnlyTestKey } from '../test-records.ts';

/** The time before the next try while the passkey is too old, in milliseconds. */
const retryAfterMs = 5_000;

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
    key: idArg('apiKey')({ description: 'id of the API key; without it, your only active test key' }),
  };
  static override flags = {
    'forward-to': Flags.string({ description: 'URL of the local receiver', required: true }),
  };

  /** Whether the person has been asked for the passkey. Later failures for the same reason are silent. */
  #hasAskedForPasskey = false;

  async run(): Promise<void> {
    const target = this.flags['forward-to'];
    requireTarget(target);
    await relayEvents({
      api: this.api,
      target,
      isJson: this.jsonEnabled(),
      keyId: this.args.key ?? (await findOnlyTestKey(this.api)),
      notice: (text) => this.writeNotice(text),
      onError: (error) => this.#waitForPasskey(error),
    });
  }

  /**
   * Waits before the next try if the passkey is too old. No event is lost, because the next try reads from the same time.
   * @throws any other error
   */
  async #waitForPasskey(error: unknown): Promise<void> {
    const { code, hint = '' } = toFailure(error, this.connectionSource);
    if (code !== 'passkey_required') throw error;
    if (!this.#hasAskedForPasskey)
      this.writeNotice(`The passkey is older than 30 minutes. ${hint} This goes on by itself then.`);
    this.#hasAskedForPasskey = true;
    await sleep(retryAfterMs);
  }
}
