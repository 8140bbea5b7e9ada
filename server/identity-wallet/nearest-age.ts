import type { ClaimPath } from './query.ts';

const yearsIn = (name: string | null | undefined): number | undefined => {
  const years = /^age_over_(\d{2})$/.exec(name ?? '')?.[1];
  return years === undefined ? undefined : Number(years);
};

type Elements = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** The age element that decides an age which is not attested: who is over 21 is over 18. */
function decidingAge([namespace, name]: ClaimPath, elements: Elements): string | undefined {
  const years = yearsIn(name);
  if (years === undefined) return undefined;
  const found = [...(elements.get(namespace ?? '') ?? [])].find(([other, value]) => {
    const given = yearsIn(other);
    return given !== undefined && (value === true ? given >= years : value === false && given <= years);
  });
  return found?.[0];
}

/**
 * The paths that an mdoc shows, as they were asked for. An issuer attests some ages: asked for another one, a wallet
 * answers with the nearest that decides it (ISO/IEC 18013-5, 7.2.5).
 */
export function pathsShown(elements: Elements, asked: readonly ClaimPath[]): ClaimPath[] {
  const shown = [...elements].flatMap(([namespace, own]) => [...own.keys()].map((name) => [namespace, name]));
  const isShown = ([namespace, name]: ClaimPath) => elements.get(namespace ?? '')?.has(name ?? '') ?? false;
  const answered = asked.filter((path) => !isShown(path) && decidingAge(path, elements) !== undefined);
  const standIns = answered.map((path) => decidingAge(path, elements));
  const isAsked = ([namespace, name]: ClaimPath) =>
    asked.some((each) => each[0] === namespace && each[1] === name);
  const rest = shown.filter((path) => isAsked(path) || !standIns.includes(path[1]));
  return [...rest, ...answered];
}
