import type { Db, Document } from 'mongodb';

/** A command as sent by the driver. */
export interface SentCommand {
  commandName: string;
  command: Document;
}

/** Every process reads its small keyring between two heartbeats. No request waits for it. */
export const isKeyringRead = (command: Document): boolean => command['find'] === 'keys';

/** The options of a find command, besides its filter, that affect its plan. */
const findOptions = ['sort', 'limit', 'skip', 'hint', 'projection', 'collation'];

/** A write finds its documents as a query does. */
const asFind =
  (find: unknown) =>
  ({ q: filter, hint }: Document): Document => ({ find, filter, ...(hint && { hint }) });

/** The statements that `explain` accepts: each statement of a bulk write is a separate one. */
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
      // Without a query it is the number that the collection keeps of itself.
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
