import { type ClaimName, type Claims, type ClaimValue, claimRegistry } from '../../../contracts/claims.ts';
import type { ClaimRule, ClaimRules } from '../../../contracts/oidc-sources.ts';

/** Claims of a provider, from its ID token and its userinfo endpoint. */
export type ProviderClaims = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at `path`: a claim of this very name, else one inside of objects. */
function valueAt(claims: ProviderClaims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (within, name) => (isObject(within) && Object.hasOwn(within, name) ? within[name] : undefined),
      claims,
    );
}

/** OpenID Connect for Identity Assurance 5: one or several sets, each with how it was verified. */
function verifiedSets({ verified_claims: given }: ProviderClaims, frameworks: 'any' | readonly string[]) {
  return [given].flat().flatMap((set) => {
    if (!isObject(set) || !isObject(set['verification']) || !isObject(set['claims'])) return [];
    const { trust_framework: framework } = set['verification'];
    if (typeof framework !== 'string') return [];
    return frameworks === 'any' || frameworks.includes(framework) ? [set['claims']] : [];
  });
}

function lookUp(
  said: ProviderClaims,
  path: string,
  verified: 'any' | readonly string[] | undefined,
): unknown {
  if (verified === undefined) return valueAt(said, path);
  return verifiedSets(said, verified)
    .map((set) => valueAt(set, path))
    .find((value) => value !== undefined);
}

/** Years, months and days of `2001-02-28`, `2001` or `0000-02-28` (OpenID Connect Core 5.1), where they are a date. */
function parseBirthdate(text: unknown): { year: number; month?: number; day?: number } | undefined {
  const [, yearText, monthText, dayText] =
    typeof text === 'string' ? (/^(\d{4})(?:-(\d{2})-(\d{2}))?$/.exec(text) ?? []) : [];
  const year = Number(yearText);
  if (!year) return undefined;
  if (monthText === undefined) return { year };
  const [month, day] = [Number(monthText), Number(dayText)];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? { year, month, day } : undefined;
}

/**
 * Whether a person born on `birthdate` is at least `years` old at `now`, in UTC; null where it cannot be told: no
 * date, the year withheld, or only a year and their birthday may be still to come. Who was born on 29 February
 * is a year older on 1 March.
 */
export function isOfAge(birthdate: unknown, years: number, now: Date): boolean | null {
  const born = parseBirthdate(birthdate);
  if (!born) return null;
  const { year, month, day } = born;
  const passed = now.getUTCFullYear() - year;
  if (month === undefined || day === undefined) return passed === years ? null : passed > years;
  return Date.UTC(year + years, month - 1, day) <= now.getTime();
}

const yearsOf = (name: ClaimName) => Number(/^age_(\d+)_plus$/.exec(name)?.[1]);

/** Values as they arrive from providers that know text only. */
function asTyped(name: ClaimName, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'country') return value.toUpperCase();
  if (value === 'true' || value === 'false') return value === 'true';
  return /^\d+$/.test(value) ? Number(value) : value;
}

function valueBy(
  rule: ClaimRule,
  name: ClaimName,
  { said, now }: { said: ProviderClaims; now: Date },
): unknown {
  if ('birthdate' in rule) return isOfAge(lookUp(said, rule.birthdate, rule.verified), yearsOf(name), now);
  if ('claim' in rule) return asTyped(name, lookUp(said, rule.claim, rule.verified));
  if ('present' in rule) return verifiedSets(said, rule.verified ?? 'any').length > 0 ? true : null;
  const { acr } = said;
  return typeof acr === 'string' && Object.hasOwn(rule.acr, acr) ? rule.acr[acr] : null;
}

/**
 * The claims that follow from what a provider said. Only these are kept: nothing else of what it said leaves
 * this function. A claim without a rule, or whose value does not fit the registry, is null.
 */
export function deriveClaims(rules: ClaimRules, said: ProviderClaims, now: Date): Claims {
  const names = Object.keys(claimRegistry) as ClaimName[];
  return Object.fromEntries(
    names.map((name): [ClaimName, ClaimValue] => {
      const rule = rules[name];
      const parsed = claimRegistry[name].safeParse(rule && valueBy(rule, name, { said, now }));
      return [name, parsed.success ? parsed.data : null];
    }),
  );
}
