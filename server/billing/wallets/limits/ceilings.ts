import { ApiError } from '../../../platform/errors.ts';
import type { Ceilings } from '../context.ts';

interface Caps {
  perMinute: number;
  perHour: number;
}

interface Wanted {
  wanted: { perMinute?: number | undefined; perHour?: number | undefined };
  present: Caps;
  isMember: boolean;
}

/**
 * The caps to set. A cap that is left out stays, unless it is above its ceiling. Operators may set a cap above a ceiling.
 * @throws ApiError `refused` for a member's cap above the ceiling
 */
export function cappedBy(ceilings: Ceilings, { wanted, present, isMember }: Wanted): Partial<Caps> {
  const caps: Partial<Caps> = {};
  for (const [name, unit] of [
    ['perMinute', 'a minute'],
    ['perHour', 'an hour'],
  ] as const) {
    const ceiling = ceilings[name] ?? Number.POSITIVE_INFINITY;
    const cap = wanted[name];
    if (isMember && cap !== undefined && cap > ceiling)
      throw new ApiError('refused', {
        description: `The operator allows at most ${ceiling} ${unit}; ask support for a higher ceiling`,
      });
    if (cap !== undefined) caps[name] = cap;
    else if (present[name] > ceiling) caps[name] = ceiling;
  }
  return caps;
}
