import { z } from 'zod';
import { Mode } from './identifiers.ts';
import { SourceLabel, SourceName, sourceList } from './source-name.ts';

/** The profile of a source: the kind of credential, and the form of the request. */
export const IdentityWalletProfile = z.enum(['eu-age-verification', 'eudi-pid', 'mdl', 'photo-id']);
export type IdentityWalletProfile = z.infer<typeof IdentityWalletProfile>;

const objectIdentifier = z
  .string()
  .regex(/^\d+(\.\d+)+$/, { error: 'expected an object identifier such as 1.0.18013.5.1.2' });

/** The certificate by which this relying party identifies itself to identity wallets, with its private key. */
const RelyingPartyCertificate = z.strictObject({
  /** PEM, or the path of a PEM file: the certificate, then the intermediate certificates. */
  certificates: z.string().min(1),
  /** PKCS #8 in PEM, or the path of such a file, or the environment variable that contains it. */
  key: z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })]),
  /** How the request names this relying party (OpenID4VP 1.0, 5.9.3). */
  clientId: z.enum(['x509_hash', 'x509_san_dns']).default('x509_hash'),
});

/** The document type and the URL scheme of a profile, unless the source sets others. */
const profileDefaults = {
  'eu-age-verification': { docType: 'eu.europa.ec.av.1', scheme: 'av' },
  'eudi-pid': { docType: 'eu.europa.ec.eudi.pid.1', scheme: 'openid4vp' },
  mdl: { docType: 'org.iso.18013.5.1.mDL', scheme: 'openid4vp' },
  'photo-id': { docType: 'org.iso.23220.photoid.1', scheme: 'openid4vp' },
} as const;

/** Sessions by passkey have `passkey` as the name of their source. */
const isBuiltInSource = (name: string): boolean =>
  name === 'sandbox' || name === 'passkey' || name.startsWith('test-wallet');

/** The trust anchors: PEM, the path of a PEM file, or a signed list of authorities. */
export const TrustAnchors = z.union([
  z.string().min(1),
  z.strictObject({
    /** Path of the file with a VICAL (ISO/IEC 18013-5, annex C). */
    vical: z.string().min(1),
    /** The certificate authorities of the list's provider: PEM, or the path of a PEM file. */
    providers: z.string().min(1),
  }),
]);
export type TrustAnchors = z.infer<typeof TrustAnchors>;

/** An identity wallet source, which is an item of the list in SVC_IDENTITY_WALLET_SOURCES. */
export const IdentityWallet = z
  .strictObject({
    /** The name of the source, for example for `clients create --source`. */
    name: SourceName.refine((name) => !isBuiltInSource(name), {
      // Configured sources must not hide a built-in source.
      error: 'is the name of a source that is always there',
    }),
    label: SourceLabel,
    profile: IdentityWalletProfile,
    modes: z.array(Mode).min(1).default(['test', 'live']),
    /** Certificate authorities of the issuers. Files are read again when they change. */
    trustAnchors: TrustAnchors,
    /** The signer of an mdoc must have one of these extended key usages. */
    documentSignerUsages: z.array(objectIdentifier).min(1).default(['1.0.18013.5.1.2']),
    formats: z
      .array(z.enum(['dc+sd-jwt', 'mso_mdoc']))
      .min(1)
      .default(['dc+sd-jwt', 'mso_mdoc']),
    docType: z.string().min(1).max(128).optional(),
    /** The accepted values of `vct`, which names the type of an SD-JWT credential. */
    types: z.array(z.string().min(1)).min(1).default(['urn:eudi:pid:1']),
    /** Whether to ask for the number of the person or document, by which a returning person is recognised. */
    stableIdentifier: z.boolean().default(false),
    /** URL scheme that opens the identity wallet. Schemes that browsers handle themselves would not open it, and are refused. */
    scheme: z
      .string()
      .regex(/^[a-z][a-z0-9+.-]{0,31}$/)
      .refine((scheme) => !['http', 'https', 'javascript', 'data', 'file'].includes(scheme))
      .optional(),
    /** Required for all profiles but `eu-age-verification`, whose requests are not signed. */
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
    docType: source.docType ?? profileDefaults[source.profile].docType,
    scheme: source.scheme ?? profileDefaults[source.profile].scheme,
    // Only the EUDI PID exists in both formats. The other documents exist as mdoc only.
    formats: source.profile === 'eudi-pid' ? source.formats : (['mso_mdoc'] as (typeof source)['formats']),
  }));

export const IdentityWalletSources = sourceList(IdentityWallet);

/** A source with the contents of its files and variables. Trust anchors may still be the path of a file. */
export type IdentityWalletSettings = Omit<z.infer<typeof IdentityWallet>, 'access'> & {
  access?: { certificates: string; key: string; clientId: 'x509_hash' | 'x509_san_dns' } | undefined;
};

/** The built-in sources for test clients. They trust only the test wallet. */
export const testIdentityWalletSources = [
  { name: 'test-wallet-age', label: 'EU age verification', profile: 'eu-age-verification' },
  { name: 'test-wallet-pid', label: 'EUDI Wallet', profile: 'eudi-pid' },
  { name: 'test-wallet-mdl', label: 'Driving licence', profile: 'mdl' },
] as const;
