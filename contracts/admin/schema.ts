import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

export const SchemaView = z.strictObject({
  /** The schema version of the documents in the database. A build that knows only older versions cannot use the database. */
  version: z.number().int(),
  /** The newest schema version that the server knows. */
  known: z.number().int(),
  /** The oldest build that can use the database. Null if the database is older than this field. */
  oldestBuild: z.string().nullable(),
  /**
   * The forms of documents in the database. `old`: the form of the version before, which older builds may still write. `both`: the
   * upgrade was finished, but old documents may still exist. `new`: only the new form.
   */
  forms: z.enum(['old', 'both', 'new']),
  /** When the old form will be gone at the latest, if there are both forms. */
  bothUntil: DateTime.nullable(),
  migrations: z.array(
    z.strictObject({
      name: z.string(),
      /** The schema version to which the migration leads. */
      to: z.number().int(),
      changed: z.number().int(),
      done: z.boolean(),
    }),
  ),
});
export type SchemaView = z.infer<typeof SchemaView>;

/** The differences between the actual and the expected shard keys of a sharded cluster. */
export const ShardsView = z.strictObject({
  sharded: z.boolean(),
  differences: z.array(
    z.strictObject({
      collection: z.string(),
      /** The expected shard key. Null for a collection that should not be sharded. */
      expected: z.string().nullable(),
      /** The actual shard key, or a text that says what else differs. Null if the collection is not sharded. */
      found: z.string().nullable(),
    }),
  ),
  /** What was not compared, because the database user may not read it: `shard keys`, or the shards of a collection. */
  unread: z.array(z.string()),
});
export type ShardsView = z.infer<typeof ShardsView>;

/** The schema after `svcadmin schema finish`, which ends the support of older builds. */
export const FinishedSchema = z.strictObject({
  ...SchemaView.shape,
  /** The number of documents in the form of the version before. */
  left: z.number().int(),
});
export type FinishedSchema = z.infer<typeof FinishedSchema>;
