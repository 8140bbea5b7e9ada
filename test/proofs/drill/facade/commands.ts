import type { Document } from 'mongodb';
import type { Branch } from './branch.ts';
import type { EngineLink } from './engine-link.ts';
import { errorReply, MemberError, unacknowledged } from './errors.ts';
import { decode, encode, numberOf } from './wire.ts';

const reads = new Set(['find', 'aggregate', 'count', 'distinct', 'listCollections', 'listIndexes']);
const writes = new Set(['insert', 'update', 'delete', 'findAndModify']);
const definitions = new Set(['create', 'createIndexes', 'drop', 'dropIndexes', 'dropDatabase']);
const cursors = new Set(['getMore', 'killCursors']);
/** Commands that have no effect in this replica set. */
const withoutEffect = new Set(['ping', 'endSessions', 'killSessions', 'refreshSessions', 'logout']);

/** The member that handles a command, with its branch and engines. */
export interface Serving {
  /** The branch of the member; undefined if the member is not the primary. */
  branch: Branch | undefined;
  /** The engine of each open cursor, by the id of the cursor. */
  cursors: Map<string, EngineLink>;
  /**
   * Runs a command that defines an index or a collection. It goes to every engine, because the model does not roll such
   * commands back.
   */
  define: (command: Document) => Promise<Buffer>;
  /** Starts an election, as the command `replSetStepDown` of an operator does. */
  stepDown: () => void;
}

/** Returns the fields of a command that an engine understands. An engine is a standalone server. */
function forEngine(command: Document): Document {
  const { lsid, txnNumber, readConcern, writeConcern, ...rest } = command;
  const others = Object.entries(rest).filter(([name]) => name === '$db' || !name.startsWith('$'));
  return { ...Object.fromEntries(others), ...(writeConcern && { writeConcern: { w: 1, j: false } }) };
}

function refuseUnmodelled(name: string, command: Document): void {
  const stages = (command['pipeline'] ?? []) as Document[];
  if (name === 'aggregate' && stages.some((stage) => '$out' in stage || '$merge' in stage))
    throw new MemberError('CommandNotSupported', 'aggregations that write');
  if (command['autocommit'] !== undefined) throw new MemberError('CommandNotSupported', 'transactions');
}

/** Runs a read on an engine, and keeps the engine of its cursor, because only this engine can continue the cursor. */
async function open(engine: EngineLink, command: Document, serving: Serving): Promise<Buffer> {
  const reply = await engine.send(command);
  const { cursor } = decode(reply);
  const id = String(cursor?.id ?? 0);
  if (id !== '0') serving.cursors.set(id, engine);
  return reply;
}

async function read(branch: Branch, command: Document, serving: Serving): Promise<Buffer> {
  const level: unknown = command['readConcern']?.level ?? 'local';
  if (level === 'local' || level === 'available')
    return open(branch.local.engine, forEngine(command), serving);
  // For `linearizable`, wait until a majority has all writes, which shows that the member is still the primary.
  const failure = level === 'linearizable' ? await branch.majority() : undefined;
  if (failure) throw new MemberError(failure);
  return branch.readCommitted(() => open(branch.committed.engine, forEngine(command), serving));
}

/** Runs a write. Waits for a majority unless the command names another write concern, as a server does. */
async function write(branch: Branch, command: Document): Promise<Buffer> {
  const { reply, majority } = await branch.write(command, forEngine(command));
  const w: unknown = command['writeConcern']?.w ?? 'majority';
  const failure = w === 'majority' || numberOf(w) > 1 ? await majority() : undefined;
  return encode(failure ? unacknowledged(reply, failure, command) : reply);
}

async function run(command: Document, serving: Serving): Promise<Buffer> {
  const [name = ''] = Object.keys(command);
  if (withoutEffect.has(name)) return encode({ ok: 1 });
  refuseUnmodelled(name, command);
  const { branch } = serving;
  if (cursors.has(name)) {
    const id = String(command['getMore'] ?? (command['cursors'] as unknown[])[0]);
    const engine = serving.cursors.get(id);
    return engine ? engine.send(forEngine(command)) : encode({ ok: 0, code: 43, codeName: 'CursorNotFound' });
  }
  if (reads.has(name)) {
    if (!branch) throw new MemberError('NotPrimaryNoSecondaryOk');
    return read(branch, command, serving);
  }
  if (name === 'replSetStepDown' && branch) {
    serving.stepDown();
    return encode({ ok: 1 });
  }
  if (!writes.has(name) && !definitions.has(name))
    throw new MemberError('CommandNotFound', `no command ${name}`);
  if (!branch) throw new MemberError('NotWritablePrimary');
  return definitions.has(name) ? serving.define(forEngine(command)) : write(branch, command);
}

/** Runs a command as the addressed member. @throws if an engine has ended */
export async function execute(command: Document, serving: Serving): Promise<Buffer> {
  try {
    return await run(command, serving);
  } catch (error) {
    if (error instanceof MemberError) return encode(errorReply(error, command));
    throw error;
  }
}
