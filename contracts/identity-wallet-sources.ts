import { z } from 'zod';
import { Mode } from './identifiers.ts';

/** Which credential an identity wallet presents, and how it is asked. */
export const IdentityWalletProfile = z.enum(['eu-age-verification', 'eudi-pid', 'mdl', 'photo-id']);
export type IdentityWalletProfile = z.infer<typeof IdentityWalletProfile>;

const objectIdentifier = z
  .string()
  .regex(/^\d+(\.\d+)+$/, { error: 'expected an object identifier such as 1.0.18013.5.1.2' });

/** The certificate by which identity wallets know this relying party, and its private key. */
const RelyingPartyCertificate = z.strictObject({
  /** PEM, or the path of a file with it: the certificate, then those between it and its root. */
  certificates: z.string().min(1),
  /** PKCS #8 in PEM, or the path of a file with it, or the environment variable that holds it. */
  key: z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })]),
  /** How the request names this relying party (OpenID4VP 1.0, 5.9.3). */
  clientId: z.enum(['x509_hash', 'x509_san_dns']).default('x509_hash'),
});

const usual = {
  'eu-age-verification': { docType: 'eu.europa.ec.av.1', scheme: 'av' },
  'eudi-pid': { docType: 'eu.europa.ec.eudi.pid.1', scheme: 'openid4vp' },
  mdl: { docType: 'org.iso.18013.5.1.mDL', scheme: 'openid4vp' },
  'photo-id': { docType: 'org.iso.23220.photoid.1', scheme: 'openid4vp' },
} as const;

/** PEM, or the path of a file with it; or a signed list of authorities. */
export const TrustAnchors = z.union([
  z.string().min(1),
  z.strictObject({
    /** Path of the file with a VICAL (ISO/IEC 18013-5, annex C). */
    vical: z.string().min(1),
    /** PEM, or the path of a file with it: certificate authorities of the list's provider. */
    providers: z.string().min(1),
  }),
]);
export type TrustAnchors = z.infer<typeof TrustAnchors>;

/** One identity wallet source; an item of the list that SVC_IDENTITY_WALLET_SOURCES names. */
export const IdentityWallet = z
  .strictObject({
    /** What `clients create --source` calls it. */
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error: 'expected lower case letters, digits and dashes' })
      // Sessions by passkey have its name as their source.
      .refine((name) => !['sandbox', 'passkey'].includes(name) && !name.startsWith('test-wallet'), {
        error: 'is the name of a source that is always there',
      }),
    /** What users read, for instance `EU age verification app`. */
    label: z.string().trim().min(1).max(60),
    profile: IdentityWalletProfile,
    modes: z.array(Mode).min(1).default(['test', 'live']),
    /** Certificate authorities of the issuers. Files are read again when they change. */
    trustAnchors: TrustAnchors,
    /** Extended key usages of which the signer of an mdoc must have one. */
    documentSignerUsages: z.array(objectIdentifier).min(1).default(['1.0.18013.5.1.2']),
    formats: z
      .array(z.enum(['dc+sd-jwt', 'mso_mdoc']))
      .min(1)
      .default(['dc+sd-jwt', 'mso_mdoc']),
    docType: z.string().min(1).max(128).optional(),
    /** Accepted values of `vct`. */
    types: z.array(z.string().min(1)).min(1).default(['urn:eudi:pid:1']),
    /** Asks for the number of the person or document, so that a person who comes again is known. */
    stableIdentifier: z.boolean().default(false),
    /** URL scheme that opens the identity wallet. */
    scheme: z
      .string()
      .regex(/^[a-z][a-z0-9+.-]{0,31}$/)
      .refine((scheme) => !['http', 'https', 'javascript', 'data', 'file'].includes(scheme))
      .optional(),
    access: RelyingPartyCertificate.optional(),
  })
  .superRefine(({ profile, access, stableIdentifier }, context) => {
    if (profile !== 'eu-age-verification' && !access)
      context.addIssue({ code: 'custom', path: ['access'], message: `is required for ${profile}` });
    if (profile === 'eu-age-verification' && (access || stableIdentifier)) {
      const message = 'is not part of eu-age-verification';
      context.addIssue({ code: 'custom', path: [access ? 'access' : 'stableIdentifier'], message });
    }
  })
  .transform((source) => ({
    ...source,
    docType: source.docType ?? usual[source.profile].docType,
    scheme: source.scheme ?? usual[source.profile].scheme,
    // Only a PID has two.
    formats: source.profile === 'eudi-pid' ? source.formats : (['mso_mdoc'] as (typeof source)['formats']),
  }));

export const IdentityWalletSources = z.array(IdentityWallet).superRefine((sources, context) => {
  const names = sources.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) context.addIssue({ code: 'custom', message: `${twice} is there twice` });
});

/** A source with what its files and variables hold; trust anchors may still be the path of a file. */
export type IdentityWalletSettings = Omit<z.infer<typeof IdentityWallet>, 'access'> & {
  access?: { certificates: string; key: string; clientId: 'x509_hash' | 'x509_san_dns' } | undefined;
};

/** Sources that are always there, for test clients: they trust the test wallet alone. */
export const testIdentityWalletSources = [
  { name: 'test-wallet-age', label: 'EU age verification', profile: 'eu-age-verification' },
  { name: 'test-wallet-pid', label: 'EUDI Wallet', profile: 'eudi-pid' },
  { name: 'test-wallet-mdl', label: 'Driving licence', profile: 'mdl' },
] as const;
