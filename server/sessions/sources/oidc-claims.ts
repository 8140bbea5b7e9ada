import { isOfAge } from '../../../contracts/age.ts';
import { type ClaimName, type Claims, type ClaimValue, claimRegistry } from '../../../contracts/claims.ts';
import type { ClaimRule, ClaimRules } from '../../../contracts/oidc-sources.ts';
import { isObject } from '../../platform/http/parameters.ts';

/** Claims of a provider, from its ID token and its userinfo endpoint. */
export type ProviderClaims = Readonly<Record<string, unknown>>;

/** The value at `path`: the claim of exactly this name, else a value inside nested objects. */
function valueAt(claims: ProviderClaims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

type TrustFrameworks = 'any' | readonly string[];

/**
 * The sets of verified claims under accepted trust frameworks (OpenID Connect for Identity Assurance 5). A provider
 * sends one set or a list of them.
 */
function verifiedSets({ verified_claims: given }: ProviderClaims, frameworks: TrustFrameworks) {
  return [given].flat().flatMap((set) => {
    if (!isObject(set) || !isObject(set['verification']) || !isObject(set['claims'])) return [];
    const { trust_framework: framework } = set['verification'];
    if (typeof framework !== 'string') return [];
    return frameworks === 'any' || frameworks.includes(framework) ? [set['claims']] : [];
  });
}

/**
 * The value that a provider has given at `path`.
 * @param frameworks the trust frameworks of a rule that accepts only verified claims; undefined if it accepts all claims
 */
function lookUp(given: ProviderClaims, path: string, frameworks: TrustFrameworks | undefined): unknown {
  if (frameworks === undefined) return valueAt(given, path);
  return verifiedSets(given, frameworks)
    .map((set) => valueAt(set, path))
    .find((value) => value !== undefined);
}

/** The age that a claim such as `age_18_plus` is about. */
const yearsOf = (name: ClaimName) => Number(/^age_(?<years>\d+)_plus$/.exec(name)?.groups?.['years']);

/** Converts values of providers that send all values as text. */
function asTyped(name: ClaimName, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'country') return value.toUpperCase();
  if (value === 'true' || value === 'false') return value === 'true';
  return /^\d+$/.test(value) ? Number(value) : value;
}

/** The value that a rule gives to a claim. It is not checked against the registry yet. */
function valueBy(
  rule: ClaimRule,
  name: ClaimName,
  { given, now }: { given: ProviderClaims; now: Date },
): unknown {
  if ('birthdate' in rule) return isOfAge(lookUp(given, rule.birthdate, rule.verified), yearsOf(name), now);
  if ('claim' in rule) return asTyped(name, lookUp(given, rule.claim, rule.verified));
  // Missing verified claims do not show that the user is not verified. So the value is null then, and not false.
  if ('present' in rule) return verifiedSets(given, rule.verified ?? 'any').length > 0 ? true : null;
  // The rule gives a value for each authentication context of the provider (`acr`), for instance a level of assurance.
  const { acr } = given;
  return typeof acr === 'string' && Object.hasOwn(rule.acr, acr) ? rule.acr[acr] : null;
}

/**
 * Derives claims from the claims of a provider. No other data of the provider leaves this function. A claim is null if
 * it has no rule, or if its value does not fit the registry.
 */
export function deriveClaims(rules: ClaimRules, given: ProviderClaims, now: Date): Claims {
  const names = Object.keys(claimRegistry) as ClaimName[];
  return Object.fromEntries(
    names.map((name): [ClaimName, ClaimValue] => {
      const rule = rules[name];
      const parsed = claimRegistry[name].safeParse(rule && valueBy(rule, name, { given, now }));
      return [name, parsed.success ? parsed.data : null];
    }),
  );
}
