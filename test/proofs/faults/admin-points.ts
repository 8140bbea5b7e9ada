import { type MessagePoint, pointsAt, writing } from './message-points.ts';
import type { Command } from './messages.ts';

const records = ['partners', 'apiKeys', 'clients'];
const inRecords = (text: RegExp) => (command: Command) =>
  records.some((collection) => writing(collection, text)(command));

/**
 * The points of every write of an operator's command: the record with its audit entry, the copy of this entry in the audit
 * log, and its removal from the record.
 */
export const adminPoints: readonly MessagePoint[] = pointsAt({
  'new record': (command) => command.name === 'insert' && inRecords(/"auditAt"/)(command),
  'changed record': inRecords(/"\$inc":\{"revision":1\}/),
  'audit entry': writing('auditLog'),
  'audit entry copied': inRecords(/\$\$REMOVE/),
});
