import { Args } from '@oclif/core';
import type { KeyView } from '../../../contracts/admin/keyring.ts';
import { CarefulCommand } from '../../careful-command.ts';

/** What the server will do, or why it will refuse. */
function consequenceOf(id: string, key: KeyView | undefined): string {
  if (!key) return `There is no key ${id}; nothing changes.`;
  if (key.retirableAt === null) return `${id} cannot be retired; the server refuses, and nothing changes.`;
  if (Date.parse(key.retirableAt) > Date.now())
    return `${id} can be retired from ${key.retirableAt} on; until then the server refuses, and nothing changes.`;
  return `${id} is no longer published. No token needs it. Signed statements that it signed do not verify any more.`;
}

export default class KeyringRetire extends CarefulCommand<typeof KeyringRetire> {
  static override summary = 'Take an old signing key out of the published keys, for good.';
  static override description =
    'Refused for the key that signs, and while a token that the key has signed may live. `keyring list` shows the time from which it is possible. Keep the published keys where partners still verify statements of that time.';
  static override examples = [
    '<%= config.bin %> keyring retire signing-1 --dry-run',
    '<%= config.bin %> keyring retire signing-1 --yes',
  ];
  static override args = {
    key: Args.string({ description: 'signing-…, as `keyring list` shows it', required: true }),
  };

  async run() {
    const { key: id } = this.args;
    const api = await this.api();
    const keys = await api.keyring.list.query();
    const consequence = consequenceOf(
      id,
      keys.find((key) => key.id === id),
    );
    return this.confirmed({ id, consequence, live: true, where: 'the whole service' }, async () =>
      this.one(await api.keyring.retire.mutate({ id })),
    );
  }
}
