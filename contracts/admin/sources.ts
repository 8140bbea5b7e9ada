import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';

export const SourceReference = z.strictObject({ name: z.string().min(1).max(64) });

/** Days before a certificate expires from which on it is reported. */
export const certificateNotice = 30;

const CertificateView = z.strictObject({
  use: z.enum(['trust anchor', 'access']),
  subject: z.string(),
  notAfter: DateTime,
  /** Expires within 30 days, or has expired. */
  expiring: z.boolean(),
});

/** A verification source as its operator sees it. */
export const SourceView = z.strictObject({
  name: z.string(),
  kind: z.enum(['sandbox', 'oidc', 'wallet']),
  modes: z.array(Mode),
  /** Why it cannot verify users now; null where nothing is known to be wrong. */
  fault: z.string().nullable(),
  certificates: z.array(CertificateView),
  /** How the newest 20,000 sessions of the last 24 hours ended with it; null while the database is away. */
  lastDay: z.strictObject({ authenticated: z.number().int(), failed: z.number().int() }).nullable(),
});
export type SourceView = z.infer<typeof SourceView>;
