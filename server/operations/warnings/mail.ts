import type { Config } from '../../platform/config/config.ts';
import type { Mail } from '../../platform/mail.ts';
import type { UnsentWarning } from './warning.ts';

/** What the links of an e-mail depend on: with the portal, members choose there which e-mails they get. */
export type Links = Pick<Config, 'baseUrl' | 'portal'>;

/** Returns the e-mail that tells the state of a warning. @param name the partner's name */
export function warningMail(
  { mode, text, untold }: UnsentWarning,
  { name, ...address }: Pick<Mail, 'to' | 'id'> & { name: string },
  { baseUrl, portal }: Links,
): Mail {
  const choice = `${baseUrl}/portal/warnings`;
  const advice = portal
    ? `${choice} says what to do. There you also choose whether you get these e-mails.`
    : `${baseUrl}/docs/webhooks#warnings`;
  const isOver = untold === 'over';
  const [firstSentence] = text.split('. ');
  return {
    ...address,
    subject: `${isOver ? 'Over: ' : ''}${firstSentence} (${name}, ${mode})`,
    text: `${isOver ? 'This is over:' : 'Please look at this:'}\n\n${text}\n\nAccount: ${name}, ${mode} mode\n${advice}\n`,
    ...(portal ? { choice } : {}),
  };
}
