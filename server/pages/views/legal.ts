import type { Imprint } from '../../platform/config/imprint.ts';
import type { Messages } from '../messages/en.ts';
import { timeInWords } from './formatters.ts';
import { isolated, withoutDirectionControls } from './languages.ts';

/** A link to a page outside of the hosted flow. */
interface Notice {
  href: string;
  text: string;
}

const hour = 3_600_000;
const day = 24 * hour;

/** The help address as a link: to a mailbox, or to a page, which is shown without `https://` and final slash. */
export function helpOf({ helpAddress }: Imprint): Notice | undefined {
  if (helpAddress === undefined) return undefined;
  if (!helpAddress.includes('://')) return { href: `mailto:${helpAddress}`, text: helpAddress };
  return { href: helpAddress, text: helpAddress.replace(/^https:\/\/|\/$/g, '') };
}

/** Returns the operator's name and the links to its notices, in the language of `m`. */
export function legalOf(
  imprint: Imprint,
  m: Messages,
  partnerNotice?: { partner: string; privacyUrl: string },
) {
  const help = helpOf(imprint);
  const notices: (Notice | undefined)[] = [
    imprint.privacyUrl === undefined ? undefined : { href: imprint.privacyUrl, text: m.legal.privacy },
    partnerNotice && { href: partnerNotice.privacyUrl, text: m.legal.privacyOf(partnerNotice.partner) },
    imprint.termsUrl === undefined ? undefined : { href: imprint.termsUrl, text: m.legal.terms },
    help && { href: help.href, text: m.legal.help },
  ];
  return {
    legalName: imprint.legalName && isolated(withoutDirectionControls(imprint.legalName), m),
    notices: notices.filter((notice) => notice !== undefined),
    help,
  };
}

/** A duration in days, or in hours if it is not a whole number of days. */
export function spanInWords(ms: number, language: string): string {
  const unit = ms % day === 0 ? 'day' : 'hour';
  const count = Math.ceil(ms / (unit === 'day' ? day : hour));
  return timeInWords(language, count, unit);
}
