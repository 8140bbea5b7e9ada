import type { Imprint } from '../../platform/config/imprint.ts';
import type { assetAddresses } from './assets.ts';
import { isolated, type Language, languages, withoutDirectionControls } from './languages.ts';
import { legalOf } from './legal.ts';

/** What a client's settings make of the pages. */
export interface PartnerSettings {
  name: string;
  logo?: string | null | undefined;
  brandName?: string | null | undefined;
  brandColor?: string | null | undefined;
  purpose?: string | null | undefined;
  privacyUrl?: string | null | undefined;
  redirectUri: string;
}

interface Place {
  language: Language;
  imprint: Imprint;
  addresses: Pick<ReturnType<typeof assetAddresses>, 'logo' | 'brandStyle'>;
}

/** The partner as its users know it: data of each page. */
export function partnerOnPages(settings: PartnerSettings, { language, imprint, addresses }: Place) {
  const { logo, brandColor, purpose, privacyUrl, redirectUri } = settings;
  const name = withoutDirectionControls(settings.brandName ?? settings.name);
  const { origin, host } = new URL(redirectUri);
  const m = languages[language];
  const own = privacyUrl ? { partner: isolated(name, m), privacyUrl } : undefined;
  return {
    ...(own ? legalOf(imprint, m, own) : {}),
    partner: isolated(name, m),
    initial: Array.from(name)[0]?.toUpperCase() ?? '',
    logo: logo ? addresses.logo(logo) : undefined,
    brandStyle: brandColor ? addresses.brandStyle(brandColor) : undefined,
    purpose: purpose ? withoutDirectionControls(purpose) : undefined,
    origin,
    host,
    isolatedHost: isolated(host, m),
  };
}
