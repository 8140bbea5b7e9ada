import { type Collection, type Db, type Document, MongoNetworkError } from 'mongodb';

/** The part of a group write that is lost: the command or its reply. */
export type Loss = 'command' | 'reply';

/** The database through a connection that loses group writes in the order of `losses`. Undefined loses nothing. */
export function lossyDatabase(
  db: Db,
  losses: (Loss | undefined)[] = [],
): { db: Db; losses: (Loss | undefined)[] } {
  const groupWrites = new Set<string | symbol>(['insertMany', 'bulkWrite']);

  function lossy<D extends Document>(collection: Collection<D>): Collection<D> {
    return new Proxy(collection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (!groupWrites.has(name)) return member.bind(target);
        return async (...args: unknown[]) => {
          const loss = losses.shift();
          if (loss === undefined) return member.apply(target, args);
          if (loss === 'reply') await Promise.resolve(member.apply(target, args)).catch(() => undefined);
          throw new MongoNetworkError(`the ${loss} is lost`);
        };
      },
    });
  }

  const through = new Proxy(db, {
    get(target, name) {
      if (name === 'collection') return (named: string) => lossy(target.collection(named));
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { db: through, losses };
}
