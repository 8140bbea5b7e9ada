import { Tagged } from 'cborg';
import { isOfAge } from '../../contracts/age.ts';
import { type ClaimName, type Claims, type ClaimValue, claimRegistry } from '../../contracts/claims.ts';
import { textFault } from '../../contracts/input-text.ts';
import { demand } from './refused.ts';

/** The contents of a presentation, in any format. */
export interface Facts {
  /** By number of years: whether the person is at least this old. */
  ages: ReadonlyMap<number, boolean>;
  /** The date of birth, such as `2001-02-28`. */
  birthdate?: string | undefined;
  countries?: readonly string[] | undefined;
  issuingCountry?: string | undefined;
  issuingAuthority?: string | undefined;
  identifier?: string | undefined;
}

/** Texts in documents are shorter than this. */
const longestText = 256;

/**
 * Returns a text of an attestation. The decoder of CBOR puts U+FFFD in the place of bytes that are not UTF-8, so two persons could
 * become one.
 */
function textOf(value: unknown): string {
  demand(typeof value === 'string' && value.length <= longestText, 'malformed', 'claim');
  demand(textFault(value) === undefined && !value.includes('\uFFFD'), 'malformed', 'claim');
  return value;
}

const optionalText = (value: unknown): string | undefined =>
  value === undefined ? undefined : textOf(value);

/** Returns a list of names. A single name becomes a list of one. */
function texts(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return names.map(textOf);
}

/** Returns the attested ages. @param pattern matches the name of an age; its group `years` is the age */
function agesOf(entries: Iterable<readonly [string, unknown]>, pattern: RegExp): Map<number, boolean> {
  const ages = new Map<number, boolean>();
  for (const [name, value] of entries) {
    const years = pattern.exec(name)?.groups?.['years'];
    if (years === undefined) continue;
    demand(typeof value === 'boolean', 'malformed', 'age');
    ages.set(Number(years), value);
  }
  return ages;
}

/** @throws PresentationRefused if an element has another type or is too long */
export function factsOfMdoc(elements: ReadonlyMap<string, unknown>): Facts {
  const born = elements.get('birth_date');
  return {
    ages: agesOf(elements, /^age_over_(?<years>\d{1,3})$/),
    // A date has the tag of full dates (RFC 8943), or is plain text.
    birthdate: optionalText(born instanceof Tagged ? born.value : born),
    countries: texts(elements.get('nationality')),
    issuingCountry: optionalText(elements.get('issuing_country')),
    issuingAuthority: optionalText(elements.get('issuing_authority')),
    // A PID, which is the EU's identity credential, has a personal number. Licences and photo IDs have a document number.
    identifier: optionalText(
      elements.get('personal_administrative_number') ?? elements.get('document_number'),
    ),
  };
}

/** @throws PresentationRefused if a claim has another type or is too long */
export function factsOfSdJwt(claims: Readonly<Record<string, unknown>>): Facts {
  const { age_equal_or_over: ages = {} } = claims;
  demand(typeof ages === 'object' && ages !== null, 'malformed', 'age');
  return {
    ages: agesOf(Object.entries(ages), /^(?<years>\d{1,3})$/),
    birthdate: optionalText(claims['birthdate']),
    countries: texts(claims['nationalities']),
    issuingCountry: optionalText(claims['issuing_country']),
    identifier: optionalText(claims['personal_administrative_number']),
  };
}

/**
 * Returns whether a person has reached an age, as far as the attested ages tell; null if they do not. A person who is 21 is also
 * 18, and a person who is not 18 is not 21.
 */
export function ageFrom(ages: Facts['ages'], years: number): boolean | null {
  const attested = [...ages];
  const isReached = attested.some(([age, reached]) => reached && age >= years);
  const isNotReached = attested.some(([age, reached]) => !reached && age <= years);
  demand(!(isReached && isNotReached), 'malformed', 'ages contradict each other');
  return isReached || isNotReached ? isReached : null;
}

function countryOf({ countries, issuingCountry }: Facts): string | null {
  // With several nationalities, `country` has no single value.
  if (countries) return countries.length === 1 ? (countries[0]?.toUpperCase() ?? null) : null;
  return issuingCountry?.toUpperCase() ?? null;
}

interface Basis {
  facts: Facts;
  /** Whether the credential identifies a person at level of assurance high. */
  isIdentity: boolean;
  now: number;
}

/** The highest of our levels (1 to 3). */
const highAssurance = 3;

/** Returns the function for the claim that a person has reached an age. The date of birth counts if no attested age decides. */
const reachedAge =
  (years: number) =>
  ({ facts, now }: Basis): ClaimValue =>
    ageFrom(facts.ages, years) ?? isOfAge(facts.birthdate, years, new Date(now));

/** Derives the value of each claim from a presentation; null if the presentation does not tell. */
const claimValues: Readonly<Record<ClaimName, (basis: Basis) => ClaimValue>> = {
  age_16_plus: reachedAge(16),
  age_18_plus: reachedAge(18),
  age_21_plus: reachedAge(21),
  identity_verified: ({ isIdentity }) => (isIdentity ? true : null),
  country: ({ facts }) => countryOf(facts),
  assurance_level: ({ isIdentity }) => (isIdentity ? highAssurance : null),
};

/**
 * Returns the requested claims, which are the only part of a presentation that is stored. A value that the claim does not allow
 * becomes null, because the presentation then does not tell the claim. An example is a country that is not a code of two letters.
 */
export function claimsFrom(basis: Basis, asked: readonly ClaimName[]): Claims {
  return Object.fromEntries(
    asked.map((name): [ClaimName, ClaimValue] => {
      const parsed = claimRegistry[name].safeParse(claimValues[name](basis));
      return [name, parsed.success ? parsed.data : null];
    }),
  );
}
