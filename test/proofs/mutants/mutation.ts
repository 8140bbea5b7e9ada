/** One planted fault, and the tests that must notice it. */
export interface Mutation {
  /** From the root of the repository. */
  file: string;
  /** Text that the file has exactly once. */
  find: string;
  replace: string;
  /** Files of the quick tier, from `test/`, without `.test.ts`. */
  tests: readonly string[];
}

/** Mutations of one file, each a text and what replaces it. */
export const inFile = (
  file: string,
  tests: readonly string[],
  edits: readonly (readonly [find: string, replace: string])[],
): Mutation[] => edits.map(([find, replace]) => ({ file, find, replace, tests }));
