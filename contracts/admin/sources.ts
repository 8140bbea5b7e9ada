import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';

export const SourceReference = z.strictObject({ name: z.string().min(1).max(64) });

/** How early an expiry of a certificate is reported. */
export const certificateNoticeDays = 30;

const CertificateView = z.strictObject({
  use: z.enum(['trust anchor', 'access']),
  subject: z.string(),
  notAfter: DateTime,
  /** Whether the certificate expires within 30 days, or has expired. */
  expiring: z.boolean(),
});

/** A verification source as operators see it. */
export const SourceView = z.strictObject({
  name: z.string(),
  kind: z.enum(['sandbox', 'oidc', 'wallet']),
  modes: z.array(Mode),
  /** Why the source cannot verify users now. Null if no fault is known. */
  fault: z.string().nullable(),
  certificates: z.array(CertificateView),
  /** The outcomes of the newest 20,000 sessions of the last 24 hours with this source. Null while the database is away. */
  lastDay: z.strictObject({ authenticated: z.number().int(), failed: z.number().int() }).nullable(),
});
export type SourceView = z.infer<typeof SourceView>;
