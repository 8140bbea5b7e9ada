import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { ServiceKeyView } from '../../../contracts/admin/keyring.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';

/** Describes what the server will do, or why it will refuse. */
function describeRetirement(id: string, key: ServiceKeyView | undefined): string {
  if (!key) return `There is no key ${id}; nothing changes.`;
  if (key.retirableAt === null) return `${id} cannot be retired; the server refuses, and nothing changes.`;
  if (Date.parse(key.retirableAt) > Date.now())
    return `${id} can be retired from ${key.retirableAt} on; until then the server refuses, and nothing changes.`;
  return `${id} is no longer published. No token needs it. Signed statements that it signed do not verify any more.`;
}

/** Describes what the server will do with a compromised key, or why it will refuse. */
function describeEmergency(id: string, key: ServiceKeyView | undefined): string {
  if (!key) return `There is no key ${id}; nothing changes.`;
  if (!key.use.startsWith('signing'))
    return `${id} is no signing key; the server refuses, and nothing changes.`;
  const refused = `${id} is no longer published. Every token and every signed statement that it signed is refused from now on, also those of honest users.`;
  if (key.state === 'current') return `${refused} A new key is made, and signs immediately.`;
  if (key.state === 'pending') return `${refused} A new key is made, and signs from ${key.activeAt} on.`;
  return refused;
}

export default class KeyringRetire extends CarefulCommand<typeof KeyringRetire> {
  static override summary = 'Remove a signing key permanently from the published keys.';
  static override description =
    'Refused for the current signing key, and while a token that the key has signed may still be valid. `keyring list` shows when a key can be retired. If partners still need to verify statements that the key signed, keep a copy of the published keys. With --compromised, you can retire any signing key immediately, and its tokens become invalid. If it is the current signing key, a new key replaces it.';
  static override examples = [
    '<%= config.bin %> keyring retire signing-1 --dry-run',
    '<%= config.bin %> keyring retire signing-1 --yes',
    '<%= config.bin %> keyring retire signing-2 --compromised',
  ];
  static override args = {
    key: Args.string({ description: 'signing-…, as `keyring list` shows it', required: true }),
  };
  static override flags = {
    compromised: Flags.boolean({
      description: 'refuse the tokens of the key immediately, because others may have the key',
    }),
  };

  async run() {
    const { key: id } = this.args;
    const { compromised } = this.flags;
    const keys = await this.api.keyring.list.query();
    const key = keys.find((each) => each.id === id);
    const consequence = compromised ? describeEmergency(id, key) : describeRetirement(id, key);
    return this.runConfirmed({ id, consequence, isLive: true, affected: 'the whole service' }, async () =>
      this.showRecord(await this.api.keyring.retire.mutate({ id, compromised })),
    );
  }
}
