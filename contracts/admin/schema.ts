import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

export const SchemaView = z.strictObject({
  /** Schema version of the documents in the database: a build that knows none as new cannot use it. */
  version: z.number().int(),
  /** The newest schema version that the server knows. */
  known: z.number().int(),
  /** The oldest build that can use the database; null where it was made before builds were noted. */
  oldestBuild: z.string().nullable(),
  /**
   * Forms of documents that are there. `old`: that of the version before, which builds of it may still write. `both`: the upgrade
   * was finished, and what older builds have left is still looked for. `new`: nothing else.
   */
  forms: z.enum(['old', 'both', 'new']),
  /** When the old form goes, where there are both: then, or as soon as all migrations are done. */
  bothUntil: DateTime.nullable(),
  migrations: z.array(
    z.strictObject({
      name: z.string(),
      /** The schema version that it leads to. */
      to: z.number().int(),
      changed: z.number().int(),
      done: z.boolean(),
    }),
  ),
});
export type SchemaView = z.infer<typeof SchemaView>;

/** How the collections of a sharded cluster differ from what they should be. */
export const ShardsView = z.strictObject({
  sharded: z.boolean(),
  differences: z.array(
    z.strictObject({
      collection: z.string(),
      /** Null for a collection that is to stay unsharded. */
      expected: z.string().nullable(),
      /** The shard key, or what else is known; null where it is not sharded. */
      found: z.string().nullable(),
    }),
  ),
  /** What the user of the database may not read. */
  unread: z.array(z.string()),
});
export type ShardsView = z.infer<typeof ShardsView>;

export const FinishedSchema = z.strictObject({
  ...SchemaView.shape,
  /** Documents that are still in the form of the version before. */
  left: z.number().int(),
});
