import { Tagged } from 'cborg';
import { isOfAge } from '../../contracts/age.ts';
import { type ClaimName, type Claims, type ClaimValue, claimRegistry } from '../../contracts/claims.ts';
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

function text(value: unknown): string | undefined {
  demand(value === undefined || (typeof value === 'string' && value.length <= 256), 'malformed', 'claim');
  return value;
}

/** Returns a list of names. A single name becomes a list of one. */
function texts(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  return [value].flat().map((name) => {
    demand(typeof name === 'string', 'malformed', 'claim');
    return name;
  });
}

function agesOf(entries: Iterable<readonly [string, unknown]>, shape: RegExp): Map<number, boolean> {
  const ages = new Map<number, boolean>();
  for (const [name, value] of entries) {
    const years = shape.exec(name)?.[1];
    if (years === undefined) continue;
    demand(typeof value === 'boolean', 'malformed', 'age');
    ages.set(Number(years), value);
  }
  return ages;
}

export function factsOfMdoc(elements: ReadonlyMap<string, unknown>): Facts {
  const born = elements.get('birth_date');
  return {
    ages: agesOf(elements, /^age_over_(\d{1,3})$/),
    birthdate: text(born instanceof Tagged ? born.value : born),
    countries: texts(elements.get('nationality')),
    issuingCountry: text(elements.get('issuing_country')),
    issuingAuthority: text(elements.get('issuing_authority')),
    identifier: text(elements.get('personal_administrative_number') ?? elements.get('document_number')),
  };
}

export function factsOfSdJwt(claims: Readonly<Record<string, unknown>>): Facts {
  const { age_equal_or_over: ages = {} } = claims;
  demand(typeof ages === 'object' && ages !== null, 'malformed', 'age');
  return {
    ages: agesOf(Object.entries(ages), /^(\d{1,3})$/),
    birthdate: text(claims['birthdate']),
    countries: texts(claims['nationalities']),
    issuingCountry: text(claims['issuing_country']),
    identifier: text(claims['personal_administrative_number']),
  };
}

/**
 * Returns whether a person has reached an age, as far as the attested ages tell; null if they do not. A person who is 21 is also
 * 18, and a person who is not 18 is not 21.
 */
export function ageFrom(ages: Facts['ages'], years: number): boolean | null {
  const known = [...ages];
  const yes = known.some(([age, reached]) => reached && age >= years);
  const no = known.some(([age, reached]) => !reached && age <= years);
  demand(!(yes && no), 'malformed', 'ages contradict each other');
  if (yes) return true;
  return no ? false : null;
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

const reached =
  (years: number) =>
  ({ facts, now }: Basis): ClaimValue =>
    ageFrom(facts.ages, years) ?? isOfAge(facts.birthdate, years, new Date(now));

/** Derives the value of each claim from a presentation; null if the presentation does not tell. */
const claimValues: Readonly<Record<ClaimName, (basis: Basis) => ClaimValue>> = {
  age_16_plus: reached(16),
  age_18_plus: reached(18),
  age_21_plus: reached(21),
  identity_verified: ({ isIdentity }) => (isIdentity ? true : null),
  country: ({ facts }) => countryOf(facts),
  assurance_level: ({ isIdentity }) => (isIdentity ? 3 : null),
};

/** Returns the requested claims. Nothing else of a presentation is stored. */
export function claimsFrom(basis: Basis, asked: readonly ClaimName[]): Claims {
  return Object.fromEntries(
    asked.map((name): [ClaimName, ClaimValue] => {
      const parsed = claimRegistry[name].safeParse(claimValues[name](basis));
      return [name, parsed.success ? parsed.data : null];
    }),
  );
}
