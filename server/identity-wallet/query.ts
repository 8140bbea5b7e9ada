import type { ClaimName } from '../../contracts/claims.ts';
import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import { onAnyCurve, onP256 } from './cbor.ts';

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

type Choice = readonly (readonly ClaimPath[])[];

/** Returns every combination of one alternative of each choice, the preferred ones first. */
const combine = (choices: readonly Choice[]): Choice =>
  choices.reduce<Choice>(
    (combinations, choice) => combinations.flatMap((paths) => choice.map((more) => [...paths, ...more])),
    [[]],
  );

const yearsOf = (name: ClaimName): number => Number(/^age_(\d+)_plus$/.exec(name)?.[1]);

/** Returns the ages that the claims of a scope ask for. */
const agesIn = (claims: readonly ClaimName[]): number[] =>
  claims.map(yearsOf).filter((years) => !Number.isNaN(years));

function ageQuery({ docType }: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const ages = agesIn(claims);
  if (ages.length === 0) return [];
  const asked = ages.map((years) => [docType, `age_over_${years}`]);
  // Every proof of age has this element (Annex A of the age verification profile). Other ages are optional.
  const usual = [[docType, 'age_over_18']];
  const options = ages.length === 1 && ages[0] === 18 ? [asked] : [asked, usual];
  return [{ id: 'proof_of_age', format: 'mso_mdoc', types: [docType], options }];
}

interface Names {
  age: (years: number) => ClaimPath;
  birthdate: ClaimPath;
  nationality: ClaimPath;
  issuingCountry: ClaimPath;
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
export const attestsSomeAges = ({ profile }: IdentityWalletSettings): boolean => isIso(profile);

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
  const number = [pathOf('document_number'), pathOf('issuing_authority')];
  const options = stableIdentifier ? [[...asked, ...number], asked] : [asked];
  return [{ id: profile.replace('-', '_'), format: 'mso_mdoc', types: [docType], options }];
}

function personOptions(names: Names, claims: readonly ClaimName[], identified: boolean): Choice {
  const ages = agesIn(claims);
  const choices: Choice[] = [];
  if (ages.length > 0) choices.push([ages.map(names.age), [names.birthdate]]);
  if (claims.includes('country')) choices.push([[names.nationality], [names.issuingCountry]]);
  // An identity wallet does not match an empty set of claims.
  if (identified && choices.length === 0) choices.push([[names.issuingCountry]]);
  if (identified) choices.push([[names.identifier], []]);
  return combine(choices);
}

function personQuery(settings: IdentityWalletSettings, claims: readonly ClaimName[]): CredentialQueries {
  const { docType, types, formats, stableIdentifier } = settings;
  const inMdoc = (name: string): ClaimPath => [docType, name];
  const mdoc: Names = {
    age: (years) => inMdoc(`age_over_${years}`),
    birthdate: inMdoc('birth_date'),
    nationality: inMdoc('nationality'),
    issuingCountry: inMdoc('issuing_country'),
    identifier: inMdoc('personal_administrative_number'),
  };
  const sdJwt: Names = {
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
  profile !== 'eu-age-verification' || !Number.isNaN(yearsOf(claim));

const idOf = (path: ClaimPath) =>
  path
    .map((part) => part ?? 'each')
    .join('_')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_');

function toDcqlCredential({ id, format, types, options }: CredentialQuery, authorities: readonly string[]) {
  const isMdoc = format === 'mso_mdoc';
  const paths = new Map(options.flat().map((path) => [idOf(path), path]));
  const meta = isMdoc ? { doctype_value: types[0] } : { vct_values: types };
  // Claims that are derived from an element are stored, which counts as retention (ISO/IEC 18013-5, 8.3.2.1.2.1).
  const retained = isMdoc ? { intent_to_retain: true } : {};
  const claims = [...paths].map(([claim, path]) => ({
    ...(options.length > 1 ? { id: claim } : {}),
    path,
    ...retained,
  }));
  return {
    id,
    format,
    meta,
    ...(authorities.length > 0 ? { trusted_authorities: [{ type: 'aki', values: authorities }] } : {}),
    ...(claims.length > 0 ? { claims } : {}),
    ...(options.length > 1 ? { claim_sets: options.map((option) => option.map(idOf)) } : {}),
  };
}

/**
 * Returns the query in the Digital Credentials Query Language (OpenID4VP 1.0, section 6).
 * @param authorities key identifiers in base64url. If there are any, only credentials of issuers under these authorities are requested
 */
export function toDcql(query: CredentialQueries, authorities: readonly string[]) {
  return {
    credentials: query.map((credential) => toDcqlCredential(credential, authorities)),
    ...(query.length > 1 ? { credential_sets: [{ options: query.map(({ id }) => [id]) }] } : {}),
  };
}
