import { CarefulCommand } from '../../careful/careful-command.ts';

export default class KeyringReseal extends CarefulCommand<typeof KeyringReseal> {
  static override summary = 'Seal every secret under the new master key, so that the old one can be removed.';
  static override description =
    'In SVC_MASTER_KEY of every process, the new key has to be the first, and the old one the second. May be interrupted and repeated.';
  static override examples = [
    '<%= config.bin %> keyring reseal --dry-run',
    '<%= config.bin %> keyring reseal --yes',
  ];

  async run() {
    const masterKeys = (await this.api.keyring.list.query()).filter(({ use }) => use === 'master');
    // There always is a current master key. Only rows of other keys have no number of values.
    const id = masterKeys.find(({ state }) => state === 'current')?.id ?? '';
    const older = masterKeys.filter(({ state }) => state !== 'current');
    const count = older.reduce((sum, { values }) => sum + (values ?? 0), 0);
    const consequence = `${count} secrets are sealed under the master key ${id}; no secret changes.`;
    return this.runConfirmed({ id, consequence, isLive: true, affected: 'the whole service' }, () =>
      this.resealAll(),
    );
  }

  /** Calls the server until no secret is left under an older master key. Each call seals only some of them. */
  private async resealAll() {
    for (let total = 0; ; ) {
      const { masterKey, resealed, left } = await this.api.keyring.reseal.mutate({});
      total += resealed;
      if (left === 0) return this.showRecord({ masterKey, resealed: total, left });
      this.writeNotice(`${left} secrets left…`);
    }
  }
}
