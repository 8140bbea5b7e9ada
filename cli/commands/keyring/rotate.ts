import * as Args from '@oclif/core/args';
import { defaultLeadSeconds, type RotatedUse } from '../../../contracts/admin/keyring.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { duration } from '../../flags/flags.ts';

const consequences: Readonly<Record<RotatedUse, (seconds: number) => string>> = {
  signing: (seconds) =>
    `A new signing key is published now and signs in ${seconds} seconds. Tokens and statements of the older keys still verify.`,
  'signing-rsa': (seconds) =>
    `A new RSA key is published now and signs ID tokens in ${seconds} seconds. ID tokens of the older keys still verify.`,
  code: (seconds) =>
    `New authorization codes are derived under a new key in ${seconds} seconds. Codes that were issued before stay usable.`,
};

export default class KeyringRotate extends CarefulCommand<typeof KeyringRotate> {
  static override summary =
    'Make a new signing key or a new key for authorization codes. No process is restarted.';
  static override description =
    'A signing key is published before its first use, so that caches have it by then. The lead is an hour, or --lead.';
  static override examples = [
    '<%= config.bin %> keyring rotate signing',
    '<%= config.bin %> keyring rotate signing --lead 15m --yes',
  ];
  static override args = {
    use: Args.custom<RotatedUse>({ options: ['signing', 'signing-rsa', 'code'] })({
      description: 'use of the key; signing-rsa is for ID tokens by RS256',
      required: true,
    }),
  };
  static override flags = {
    lead: duration({ description: 'time between publication and first use', helpValue: '1h' }),
  };

  async run() {
    const { use } = this.args;
    const { lead } = this.flags;
    const consequence = consequences[use](lead ?? defaultLeadSeconds[use]);
    return this.runConfirmed(
      { id: use, consequence, isLive: true, affected: 'the whole service' },
      async () => this.showRecord(await this.api.keyring.rotate.mutate({ use, lead })),
    );
  }
}
