/** One planted fault, and the tests that must detect it. */
export interface Mutation {
  /** The path from the root of the repository. */
  file: string;
  /** A text that occurs exactly once in the file. */
  find: string;
  replace: string;
  /** Files of the quick tier, as paths from `test/` without `.test.ts`. */
  tests: readonly string[];
}

/** Mutations of one file, each a text and its replacement. */
export const inFile = (
  file: string,
  tests: readonly string[],
  edits: readonly (readonly [find: string, replace: string])[],
): Mutation[] => edits.map(([find, replace]) => ({ file, find, replace, tests }));
