/** The variables of an environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables of an environment. Files and shells often leave a line end or spaces, so white space at both ends of a
 * value is removed. A blank variable counts as unset.
 */
export function readVariables(environment: Variables): Variables {
  const trimmed = Object.entries(environment).map(([name, value]) => [name, value?.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, value]) => value));
}
