import type { Db, Document } from 'mongodb';

/** A command that the driver sent. */
export interface SentCommand {
  commandName: string;
  command: Document;
}

/**
 * Whether a command reads the keyring. No request waits for this read, so tests that look at the statements of a request leave
 * it out.
 */
export const isKeyringRead = (command: Document): boolean => command['find'] === 'keys';

/** The options of a find command that affect its query plan, besides the filter. */
const findOptions = ['sort', 'limit', 'skip', 'hint', 'projection', 'collation'];

/** Converts a write to the query by which it finds its documents, because both need the same index. */
const asFind =
  (find: unknown) =>
  ({ q: filter, hint }: Document): Document => ({ find, filter, ...(hint && { hint }) });

/** Converts a command to statements that `explain` accepts, one for each statement of a bulk write. */
export function statementsOf({ commandName, command }: SentCommand): Document[] {
  const collection = command[commandName];
  const options = Object.fromEntries(
    findOptions.filter((name) => command[name] !== undefined).map((name) => [name, command[name]]),
  );
  switch (commandName) {
    case 'find':
      return [{ find: collection, filter: command['filter'] ?? {}, ...options }];
    case 'aggregate':
      return [{ aggregate: collection, pipeline: command['pipeline'], cursor: {}, ...options }];
    case 'count': {
      // Without a query, the database returns a number that it keeps for the collection, and scans nothing.
      const { query = {}, limit } = command;
      const isKept = Object.keys(query as Document).length === 0;
      return isKept ? [] : [{ count: collection, query, ...(limit && { limit }) }];
    }
    case 'distinct':
      return [{ distinct: collection, query: command['query'] ?? {}, key: command['key'] }];
    case 'findAndModify':
      return [{ find: collection, filter: command['query'], limit: 1, ...options }];
    case 'update':
      return (command['updates'] as Document[]).map(asFind(collection));
    case 'delete':
      return (command['deletes'] as Document[]).map(asFind(collection));
    default:
      return [];
  }
}

/** The same for statements that differ in their values alone. */
const shapeOf = (statement: Document): string =>
  JSON.stringify(statement, (_key, value: unknown) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? typeof value : value,
  );

/** One statement of each shape, by a name that a reader can find. */
export function distinctStatements(sent: readonly SentCommand[]): Map<string, Document> {
  const statements = sent.flatMap(statementsOf).map((statement) => {
    const name = `${Object.keys(statement)[0]} ${Object.values(statement)[0]}`;
    return [`${name} ${shapeOf(statement)}`, statement] as const;
  });
  return new Map(statements);
}

/** The fault of a plan: it reads a whole collection, or sorts results that an index could return in order. */
export async function planFaults(db: Db, statement: Document): Promise<string[]> {
  const plan = JSON.stringify(await db.command({ explain: statement, verbosity: 'queryPlanner' }));
  return ['COLLSCAN', 'NestedLoopJoin', 'SORT'].filter((stage) => plan.includes(`"${stage}"`));
}
