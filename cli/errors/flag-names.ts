/** The flag by which a field of the API is typed, such as `keep-old` for `keepOldSeconds`. Undefined if there is none. */
function flagOf(field: string, flags: readonly string[]): string | undefined {
  const name = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [name, name.replace(/-seconds$/, ''), name.replace(/-in$/, '')].find((each) => flags.includes(each));
}

/**
 * Names flags in place of fields in the faults of an input that the server has refused: `keepOldSeconds: at most 30 days` becomes
 * `--keep-old: at most 30 days`.
 * @param flags the names of the command's flags
 */
export const nameFlags = (faults: string, flags: readonly string[]): string =>
  faults.replace(/(?<=^|; )([a-z][A-Za-z]*)(?:\.\w+)*(?=: )/g, (path, field: string) => {
    const flag = flagOf(field, flags);
    return flag === undefined ? path : `--${flag}`;
  });
