import { ApiError } from '../errors.ts';

interface ListChange {
  add?: readonly string[] | undefined;
  remove?: readonly string[] | undefined;
}

/**
 * Returns a list after a change. A value is never added twice, so a repeated addition changes nothing.
 * @param noun the name of one value in messages
 * @throws ApiError `refused` if a value to remove is not in the list, or the list would be empty or too long
 */
export function changedList(
  current: readonly string[],
  { add = [], remove = [] }: ListChange,
  { noun, most }: { noun: string; most: number },
): string[] {
  const absent = remove.find((value) => !current.includes(value));
  if (absent !== undefined) {
    const description = `There is no ${noun} ${absent} to remove; there are: ${current.join(' ')}`;
    throw new ApiError('refused', { description });
  }
  const changed = [...new Set([...current, ...add])].filter((value) => !remove.includes(value));
  if (changed.length === 0)
    throw new ApiError('refused', { description: `The last ${noun} cannot be removed` });
  if (changed.length > most)
    throw new ApiError('refused', { description: `At most ${most} are possible: ${noun}` });
  return changed;
}
