import { z } from 'zod';

export const SchemaView = z.strictObject({
  /** Schema version of the documents in the database: a build that knows none as new cannot use it. */
  version: z.number().int(),
  /** The newest schema version that the server knows. */
  known: z.number().int(),
  /** The oldest build that can use the database; null where it was made before builds were noted. */
  oldestBuild: z.string().nullable(),
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
  /** Null where the cluster's configuration may not be read. */
  differences: z
    .array(
      z.strictObject({
        collection: z.string(),
        /** Null for a collection that is to stay unsharded. */
        expected: z.string().nullable(),
        found: z.string().nullable(),
      }),
    )
    .nullable(),
});
export type ShardsView = z.infer<typeof ShardsView>;

export const FinishedSchema = z.strictObject({
  ...SchemaView.shape,
  /** Documents that are still in the form of the version before. */
  left: z.number().int(),
});
