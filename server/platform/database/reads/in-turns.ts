import type { Document } from 'mongodb';

type Order = Readonly<Record<string, 1 | -1>>;

interface Turns {
  /** The field with the owner of a document. */
  by: string;
  /** One field, which orders the documents of an owner. */
  sort: Order;
  /** How owners take turns. By default, by the field of `sort`. */
  owners?: Order;
  limit: number;
}

/**
 * Stages that limit documents fairly: first comes the first document of each owner, then the second of each, and so on. An owner
 * with very many documents takes only places that others do not need.
 */
export const limitInTurns = ({ by, sort, owners = { ...sort, [by]: 1 }, limit }: Turns): Document[] => [
  { $setWindowFields: { partitionBy: `$${by}`, sortBy: sort, output: { turn: { $documentNumber: {} } } } },
  { $sort: { turn: 1, ...owners } },
  { $limit: limit },
  { $unset: 'turn' },
];

/** Orders items as `limitInTurns` does. */
export function inTurns<T>(items: readonly T[], ownerOf: (item: T) => string): T[] {
  const counts = new Map<string, number>();
  const withTurn = items.map((item) => {
    const owner = ownerOf(item);
    const turn = counts.get(owner) ?? 0;
    counts.set(owner, turn + 1);
    return { item, turn };
  });
  return withTurn.toSorted((one, other) => one.turn - other.turn).map(({ item }) => item);
}
