import type { Mode } from '../../../contracts/identifiers.ts';
import type { SendMail } from '../../platform/mail.ts';

export interface WarningMail {
  to: string;
  /** The message id. A message that is sent twice has the same id, so that mail programs show it once. */
  id: string;
  name: string;
  mode: Mode;
  text: string;
  isOver: boolean;
}

/** Resolves when the mail server has taken the message. */
export type SendWarningMail = (mail: WarningMail) => Promise<void>;

interface Settings {
  /** The base URL of the service, with which all links begin. */
  baseUrl: string;
  /** Whether members of partners see their warnings, and choose their e-mails, at `/portal/warnings`. */
  hasPortal: boolean;
}

export function createWarningMailer(send: SendMail, { baseUrl, hasPortal }: Settings): SendWarningMail {
  const choice = `${baseUrl}/portal/warnings`;
  const advice = hasPortal
    ? `${choice} says what to do. There you also choose whether you get these e-mails.`
    : `${baseUrl}/docs/webhooks#warnings`;

  return async ({ to, id, name, mode, text, isOver }) => {
    const [firstSentence] = text.split('. ');
    await send({
      to,
      id,
      subject: `${isOver ? 'Over: ' : ''}${firstSentence} (${name}, ${mode})`,
      text: `${isOver ? 'This is over:' : 'Please look at this:'}\n\n${text}\n\nAccount: ${name}, ${mode} mode\n${advice}\n`,
      ...(hasPortal ? { choice } : {}),
    });
  };
}
