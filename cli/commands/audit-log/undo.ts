import * as Args from '@oclif/core/args';
import { CarefulCommand, unchangedByDefault } from '../../careful/careful-command.ts';
import { describeChanges } from '../../careful/previews.ts';
import { conflictError, prepareUndo, undoable } from '../../undo/settings.ts';

export default class AuditLogUndo extends CarefulCommand<typeof AuditLogUndo> {
  static override summary = 'Undo a change of settings: set again the values that a request has replaced.';
  static override description =
    `The audit log has the replaced values. Changes of these procedures can be undone: ${undoable.join(' ')}. A value that was changed again since is not touched. The undo is a change of its own, with an entry of its own.`;
  static override examples = [
    '<%= config.bin %> audit-log undo req_… --dry-run',
    '<%= config.bin %> audit-log undo req_…',
  ];
  static override args = {
    request: Args.string({ description: 'requestId of the entry of the audit log', required: true }),
  };

  async run() {
    const { request: requestId } = this.args;
    const { changes } = await this.api.requests.show.query({ requestId });
    const [change, ...others] = changes.filter(({ outcome }) => outcome === 'changed');
    if (!change) throw conflictError(`The request ${requestId} changed no settings`);
    if (others.length > 0)
      throw conflictError(`The request ${requestId} changed several records; undo each by hand`);
    const { target, isLive, after, before, undone, act } = await prepareUndo(this.api, change);
    if (undone) return this.#showUndone(target, undone);
    const consequence = `${target} changes back: ${describeChanges<object>(after, before)}.`;
    return this.runConfirmed(
      { id: target, consequence, isLive, confirm: 'only-live-at-terminal' },
      async () => this.showRecord(await act(this.api)),
    );
  }

  #showUndone(target: string, record: object) {
    if (this.isDryRun) return this.showDryRun(target, unchangedByDefault);
    if (!this.jsonEnabled()) this.writeNotice(`${target} has the values of before already; nothing changes.`);
    return this.showRecord(record);
  }
}
