import type { Imprint } from '../../platform/config/imprint.ts';
import type { assetAddresses } from './assets.ts';
import { isolated, type Language, languages, withoutDirectionControls } from './languages.ts';
import { legalOf } from './legal.ts';

/** The settings of a client that its hosted pages show. */
export interface PartnerSettings {
  name: string;
  logo?: string | null | undefined;
  brandName?: string | null | undefined;
  brandColor?: string | null | undefined;
  purpose?: string | null | undefined;
  privacyUrl?: string | null | undefined;
  redirectUri: string;
}

interface PageSettings {
  language: Language;
  imprint: Imprint;
  addresses: Pick<ReturnType<typeof assetAddresses>, 'logo' | 'brandStyle'>;
}

/** The template data that presents the partner on a page. */
export function partnerOnPages(settings: PartnerSettings, { language, imprint, addresses }: PageSettings) {
  const { logo, brandColor, purpose, privacyUrl, redirectUri } = settings;
  const name = withoutDirectionControls(settings.brandName ?? settings.name);
  const { origin, host } = new URL(redirectUri);
  const m = languages[language];
  const partnerNotice = privacyUrl ? { partner: isolated(name, m), privacyUrl } : undefined;
  return {
    // Replaces the notices that every page has by the same ones and the partner's privacy notice.
    ...(partnerNotice ? legalOf(imprint, m, partnerNotice) : {}),
    partner: isolated(name, m),
    // Shown in place of a logo. `Array.from` does not cut a character that has two code units.
    initial: Array.from(name)[0]?.toUpperCase() ?? '',
    logo: logo ? addresses.logo(logo) : undefined,
    brandStyle: brandColor ? addresses.brandStyle(brandColor) : undefined,
    purpose: purpose ? withoutDirectionControls(purpose) : undefined,
    origin,
    host,
    isolatedHost: isolated(host, m),
  };
}
