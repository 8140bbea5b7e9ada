import type { ClaimPath } from './query.ts';

/** Returns the age in the name of an element, such as `age_over_18`; undefined for other elements. */
const yearsIn = (name: string | null | undefined): number | undefined => {
  const years = /^age_over_(?<years>\d{2})$/.exec(name ?? '')?.groups?.['years'];
  return years === undefined ? undefined : Number(years);
};

type Elements = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** Returns an attested age element that decides an age that is not attested: a person over 21 is also over 18. */
function decidingAge([namespace, name]: ClaimPath, elements: Elements): string | undefined {
  const years = yearsIn(name);
  if (years === undefined) return undefined;
  for (const [attested, value] of elements.get(namespace ?? '') ?? []) {
    const attestedYears = yearsIn(attested);
    if (attestedYears === undefined) continue;
    if (value === true && attestedYears >= years) return attested;
    if (value === false && attestedYears <= years) return attested;
  }
  return undefined;
}

/**
 * Returns the paths that an mdoc shows. An issuer attests only some ages. If another age is requested, a wallet shows the
 * nearest one that decides it (ISO/IEC 18013-5, 7.2.5). The requested path is then returned in its place.
 */
export function pathsShown(elements: Elements, asked: readonly ClaimPath[]): ClaimPath[] {
  const shown = [...elements].flatMap(([namespace, values]) =>
    [...values.keys()].map((name) => [namespace, name]),
  );
  const isShown = ([namespace, name]: ClaimPath) => elements.get(namespace ?? '')?.has(name ?? '') ?? false;
  const answeredByOtherAge = asked.filter(
    (path) => !isShown(path) && decidingAge(path, elements) !== undefined,
  );
  const otherAges = answeredByOtherAge.map((path) => decidingAge(path, elements));
  const isAsked = ([namespace, name]: ClaimPath) =>
    asked.some((path) => path[0] === namespace && path[1] === name);
  // The other ages were not requested themselves, so they would count as more than was asked for.
  const withoutOtherAges = shown.filter((path) => isAsked(path) || !otherAges.includes(path[1]));
  return [...withoutOtherAges, ...answeredByOtherAge];
}
