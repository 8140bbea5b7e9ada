import { Eta } from 'eta';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Imprint } from '../../platform/config/imprint.ts';
import { assetAddresses, templates } from './assets.ts';
import { type Language, languages } from './languages.ts';
import { legalOf, spanInWords } from './legal.ts';
import { type PartnerSettings, partnerOnPages } from './partner-on-pages.ts';
import { usesOf } from './purpose.ts';

interface Dependencies {
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  imprint: Imprint;
  /** How long answers are kept at most, in milliseconds. */
  claimLifetime: number;
}

export interface PreviewedConsent extends PartnerSettings {
  claims: readonly ClaimName[];
  mode: Mode;
}

/** The consent page as users of a client would see it, from the same template, without a session. */
export function createConsentPreview({ baseUrl, imprint, claimLifetime }: Dependencies) {
  const eta = new Eta({ views: templates, cache: true });
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const { brandStyle, logo, ...files } = assetAddresses(`${basePath}/verify/assets`);

  return ({ claims, mode, ...settings }: PreviewedConsent, language: Language): string => {
    const m = languages[language];
    return eta.render('./consent', {
      ...files,
      ...legalOf(imprint, m),
      ...partnerOnPages(settings, { language, imprint, addresses: { brandStyle, logo } }),
      m,
      // A preview has no menu of languages, its time does not run out, and its form cannot be sent.
      languages: [],
      time: { ending: false },
      action: '',
      csrf: '',
      formVersion: '',
      testMode: mode === 'test',
      steps: ['consent', 'verify', 'done'],
      step: 'consent',
      keptFor: spanInWords(claimLifetime, language),
      claims,
      // The preview does not depend on a source. It shows the page of a source that answers everything.
      answered: claims,
      uses: usesOf(claims),
    });
  };
}
