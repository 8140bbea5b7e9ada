import type { Imprint } from '../../platform/config/imprint.ts';
import { timeInWords } from './formatters.ts';
import { isolated, withoutDirectionControls } from './languages.ts';
import type { Messages } from './messages/messages.ts';

/** A link of the page, out of the flow. */
interface Notice {
  href: string;
  text: string;
}

const hour = 3_600_000;
const day = 24 * hour;

/** The help address as a link: to write to, or to open. */
export function helpOf({ helpAddress }: Imprint): Notice | undefined {
  if (helpAddress === undefined) return undefined;
  if (!helpAddress.includes('://')) return { href: `mailto:${helpAddress}`, text: helpAddress };
  return { href: helpAddress, text: helpAddress.replace(/^https:\/\/|\/$/g, '') };
}

/** Who runs the service, in the words of a language. `own` is the partner's privacy notice. */
export function legalOf(imprint: Imprint, m: Messages, own?: { partner: string; privacyUrl: string }) {
  const help = helpOf(imprint);
  const notices: (Notice | undefined)[] = [
    imprint.privacyUrl === undefined ? undefined : { href: imprint.privacyUrl, text: m.legal.privacy },
    own && { href: own.privacyUrl, text: m.legal.privacyOf(own.partner) },
    imprint.termsUrl === undefined ? undefined : { href: imprint.termsUrl, text: m.legal.terms },
    help && { href: help.href, text: m.legal.help },
  ];
  return {
    legalName: imprint.legalName && isolated(withoutDirectionControls(imprint.legalName), m),
    notices: notices.filter((notice) => notice !== undefined),
    help,
  };
}

/** A time in whole days, or in hours where it is not. */
export function spanInWords(ms: number, language: string): string {
  const unit = ms % day === 0 ? 'day' : 'hour';
  const count = Math.ceil(ms / (unit === 'day' ? day : hour));
  return timeInWords(language, count, unit);
}
