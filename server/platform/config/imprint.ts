import { z } from 'zod';
import { DisplayName } from '../../../contracts/display-text.ts';
import { WebAddress } from '../../../contracts/web-address.ts';
import type { Given } from './secret-files.ts';

export const imprintVariables = {
  SVC_LEGAL_NAME: DisplayName.optional(),
  SVC_PRIVACY_URL: WebAddress.optional(),
  SVC_TERMS_URL: WebAddress.optional(),
  SVC_HELP_ADDRESS: z
    .union([z.email({ abort: true }), WebAddress], {
      error: 'expected an e-mail address or an https:// address',
    })
    .optional(),
};

export const readImprint = (env: z.infer<z.ZodObject<typeof imprintVariables>>) => ({
  legalName: env.SVC_LEGAL_NAME,
  privacyUrl: env.SVC_PRIVACY_URL,
  termsUrl: env.SVC_TERMS_URL,
  /** An e-mail address, or an https address. */
  helpAddress: env.SVC_HELP_ADDRESS,
});
/** Who runs this installation, for its hosted pages. In production, all fields are set. */
export type Imprint = Partial<ReturnType<typeof readImprint>>;

/** The missing variables of the imprint. Production needs all: users have to know who asks, and where to get help. */
export const missingImprint = (given: Given): string[] =>
  Object.keys(imprintVariables)
    .filter((name) => !given[name])
    .map((name) => `${name}: required in production; the hosted pages show it`);
