import type { ClaimName } from '../../../contracts/claims.ts';
import type { IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import { onAnyCurve, onP256 } from '../formats/cbor.ts';

/** The path of a value in a credential. Null stands for every element of a list. */
export type ClaimPath = readonly (string | null)[];

/** A credential that an identity wallet may present. The wallet shows the first of the `options` that it has. */
export interface CredentialQuery {
  id: string;
  format: 'mso_mdoc' | 'dc+sd-jwt';
  /** The document type, or the values of `vct`. */
  types: readonly string[];
  /** Alternative sets of claims. Empty if only the credential itself is requested. */
  options: readonly (readonly ClaimPath[])[];
}

/** Alternative credentials, of which the wallet presents one. */
export type CredentialQueries = readonly CredentialQuery[];

/** Alternatives: the identity wallet presents one of them. Each is a set of paths that it presents together. */
type Choice = readonly (readonly ClaimPath[])[];

/** Returns every combination of one alternative of each choice: from `[a, b]` and `[c, d]`, these are ac, ad, bc and bd. */
function combine(choices: readonly Choice[]): Choice {
  let combinations: Choice = [[]];
  for (const choice of choices)
    combinations = combinations.flatMap((paths) => choice.map((alternative) => [...paths, ...alternative]));
  return combinations;
}

/** Returns the age in a claim such as `age_18_plus`; undefined for other claims. */
function yearsOf(claim: ClaimName): number | undefined {
  const years = /^age_(?<years>\d+)_plus$/.exec(claim)?.groups?.['years'];
  return years === undefined ? undefined : Number(years);
}

/** Returns the ages that the claims of a scope ask for. */
const agesIn = (claims: readonly ClaimName[]): number[] => claims.flatMap((claim) => yearsOf(claim) ?? []);

/** Returns the query for a proof of age, which attests nothing but ages. Empty if no claim is an age. */
function ageQuery({ docType }: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const ages = agesIn(claims);
  if (ages.length === 0) return [];
  const pathOf = (years: number): ClaimPath => [docType, `age_over_${years}`];
  const options = [ages.map(pathOf)];
  // Every proof of age attests 18 years, and may lack other ages (Annex A of the age verification profile).
  if (ages.some((years) => years !== 18)) options.push([pathOf(18)]);
  return [{ id: 'proof_of_age', format: 'mso_mdoc', types: [docType], options }];
}

/** Where a format of a PID (person identification data, the EU's identity credential) has the values that are asked for. */
interface PersonPaths {
  age: (years: number) => ClaimPath;
  birthdate: ClaimPath;
  nationality: ClaimPath;
  issuingCountry: ClaimPath;
  /** The personal number, by which a returning person is recognised. */
  identifier: ClaimPath;
}

/** Namespaces of profiles whose namespace differs from the document type. */
const namespaces = { mdl: 'org.iso.18013.5.1', 'photo-id': 'org.iso.23220.1' } as const;

const isIso = (profile: IdentityWalletSettings['profile']): profile is keyof typeof namespaces =>
  Object.hasOwn(namespaces, profile);

/** Returns the namespace of the elements of an mdoc. */
export const namespaceOf = ({ profile, docType }: IdentityWalletSettings): string =>
  isIso(profile) ? namespaces[profile] : docType;

/** Whether a wallet may answer with another age that decides the requested one (ISO/IEC 18013-5, 7.2.5). */
export const mayShowOtherAge = ({ profile }: IdentityWalletSettings): boolean => isIso(profile);

/** Returns the COSE algorithms of issuers. The EU uses one curve, other authorities use several. */
export const issuerAlgorithmsOf = ({ profile }: IdentityWalletSettings): readonly number[] =>
  isIso(profile) ? onAnyCurve : onP256;

/** Returns the query for a driving licence or photo ID, which attests ages, the issuing country and a document number. */
function documentQuery(settings: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const { profile, docType, stableIdentifier } = settings;
  const pathOf = (name: string): ClaimPath => [namespaceOf(settings), name];
  const asked = agesIn(claims).map((years) => pathOf(`age_over_${years}`));
  // An identity wallet does not present a document without any element.
  if (claims.includes('country') || asked.length === 0) asked.push(pathOf('issuing_country'));
  // Numbers of documents are unique only within the authority that issues them.
  const numberPaths = [pathOf('document_number'), pathOf('issuing_authority')];
  // A document without a number is accepted as well, but then the person is not recognised later.
  const options = stableIdentifier ? [[...asked, ...numberPaths], asked] : [asked];
  return [{ id: profile.replace('-', '_'), format: 'mso_mdoc', types: [docType], options }];
}

/**
 * Returns the options for a PID, the preferred ones first. Each requested value is a choice between alternatives, and an option
 * has one alternative of each choice.
 * @param asksNumber whether to ask for the personal number
 */
function personOptions(paths: PersonPaths, claims: readonly ClaimName[], asksNumber: boolean): Choice {
  const ages = agesIn(claims);
  const choices: Choice[] = [];
  // Attested ages reveal less than the date of birth, but an issuer need not attest these ages.
  if (ages.length > 0) choices.push([ages.map(paths.age), [paths.birthdate]]);
  if (claims.includes('country')) choices.push([[paths.nationality], [paths.issuingCountry]]);
  if (asksNumber) {
    // The number is optional, so one option would be empty, and identity wallets match no empty set of claims.
    // The issuing country fills it.
    if (choices.length === 0) choices.push([[paths.issuingCountry]]);
    choices.push([[paths.identifier], []]);
  }
  return combine(choices);
}

/** Returns the queries for a PID, one for each format that the source accepts. */
function personQuery(settings: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const { docType, types, formats, stableIdentifier } = settings;
  const inMdoc = (name: string): ClaimPath => [docType, name];
  const mdoc: PersonPaths = {
    age: (years) => inMdoc(`age_over_${years}`),
    birthdate: inMdoc('birth_date'),
    nationality: inMdoc('nationality'),
    issuingCountry: inMdoc('issuing_country'),
    identifier: inMdoc('personal_administrative_number'),
  };
  const sdJwt: PersonPaths = {
    age: (years) => ['age_equal_or_over', String(years)],
    birthdate: ['birthdate'],
    nationality: ['nationalities', null],
    issuingCountry: ['issuing_country'],
    identifier: ['personal_administrative_number'],
  };
  return formats.map((format): CredentialQuery => {
    const isMdoc = format === 'mso_mdoc';
    return {
      id: isMdoc ? 'pid_mdoc' : 'pid_sd_jwt',
      format,
      types: isMdoc ? [docType] : types,
      options: personOptions(isMdoc ? mdoc : sdJwt, claims, stableIdentifier),
    };
  });
}

/** Returns the smallest query for these claims. Empty if the profile supports none of them. */
export function queryFor(settings: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const { profile } = settings;
  if (isIso(profile)) return documentQuery(settings, claims);
  return profile === 'eu-age-verification' ? ageQuery(settings, claims) : personQuery(settings, claims);
}

/** Whether the credential of a source attests a claim. A proof of age attests only ages. */
export const attests = ({ profile }: IdentityWalletSettings, claim: ClaimName): boolean =>
  profile !== 'eu-age-verification' || yearsOf(claim) !== undefined;

/** Returns the id of a claim in the query. Ids may have only these characters (OpenID4VP 1.0, 6.3). */
const claimIdOf = (path: ClaimPath) =>
  path
    .map((part) => part ?? 'each')
    .join('_')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_');

/** Returns the query of one credential. Empty lists are left out, because the language does not allow them. */
function toDcqlCredential({ id, format, types, options }: CredentialQuery, authorities: readonly string[]) {
  const isMdoc = format === 'mso_mdoc';
  const pathsById = new Map(options.flat().map((path) => [claimIdOf(path), path]));
  const meta = isMdoc ? { doctype_value: types[0] } : { vct_values: types };
  // Ids are needed only for alternatives, which `claim_sets` lists by the ids of their claims.
  const hasAlternatives = options.length > 1;
  // Claims that are derived from an element are stored, which counts as retention (ISO/IEC 18013-5, 8.3.2.1.2.1).
  const retained = isMdoc ? { intent_to_retain: true } : {};
  const claims = [...pathsById].map(([claimId, path]) => ({
    ...(hasAlternatives && { id: claimId }),
    path,
    ...retained,
  }));
  return {
    id,
    format,
    meta,
    ...(authorities.length > 0 && { trusted_authorities: [{ type: 'aki', values: authorities }] }),
    ...(claims.length > 0 && { claims }),
    ...(hasAlternatives && { claim_sets: options.map((option) => option.map(claimIdOf)) }),
  };
}

/**
 * Returns the query in the Digital Credentials Query Language (OpenID4VP 1.0, section 6).
 * @param authorities key identifiers in base64url. If there are any, only credentials of issuers that they certified are requested
 */
export function toDcql(query: CredentialQueries, authorities: readonly string[]) {
  return {
    credentials: query.map((credential) => toDcqlCredential(credential, authorities)),
    // Without this member, a wallet would have to present all credentials. Any one of them is enough.
    ...(query.length > 1 && { credential_sets: [{ options: query.map(({ id }) => [id]) }] }),
  };
}
