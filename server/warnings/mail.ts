import type { Mode } from '../../contracts/identifiers.ts';

export interface Mail {
  to: string;
  /** The message id. A message that is sent twice has the same id, so that mail programs show it once. */
  id: string;
  /** The name of the partner. */
  name: string;
  mode: Mode;
  text: string;
  isOver: boolean;
}

/** Resolves when the mail server has taken the message. */
export type SendMail = (mail: Mail) => Promise<void>;

interface Settings {
  /** The URL of the mail server with credentials. It begins with `smtp://` or `smtps://`. */
  url: string;
  from: string;
  /** The base URL of the service, with which all links begin. */
  baseUrl: string;
  /** Whether members of partners see their warnings, and choose their e-mails, at `/portal/warnings`. */
  hasPortal: boolean;
}

const timeoutMs = 10_000;

/** Returns a function that sends e-mails. The library is loaded with the first e-mail. */
export function createMailer({ url, from, baseUrl, hasPortal }: Settings): SendMail {
  const host = new URL(baseUrl).hostname;
  let transport: Promise<{ sendMail(message: object): Promise<unknown> }> | undefined;

  const advice = hasPortal
    ? `${baseUrl}/portal/warnings says what to do. There you also choose whether you get these e-mails.`
    : `${baseUrl}/docs/webhooks#warnings`;

  const connect = async () => {
    const { createTransport } = await import('nodemailer');
    const address = new URL(url);
    // The library reads its settings from the query of the URL. By default, it would wait for minutes.
    for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout'])
      if (!address.searchParams.has(name)) address.searchParams.set(name, String(timeoutMs));
    return createTransport(address.href);
  };

  return async ({ to, id, name, mode, text, isOver }) => {
    transport ??= connect();
    const mailer = await transport;
    const [firstSentence] = text.split('. ');
    await mailer.sendMail({
      from,
      // An object is a single address. The library would split a string at commas.
      to: { name: '', address: to },
      messageId: `<${id}@${host}>`,
      subject: `${isOver ? 'Over: ' : ''}${firstSentence} (${name}, ${mode})`,
      text: `${isOver ? 'This is over:' : 'Please look at this:'}\n\n${text}\n\nAccount: ${name}, ${mode} mode\n${advice}\n`,
      headers: { 'auto-submitted': 'auto-generated' },
      ...(hasPortal
        ? { list: { unsubscribe: { url: `${baseUrl}/portal/warnings`, comment: 'Choose' } } }
        : {}),
      // The message has no attachments, so the library never needs to read a file or a URL.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
}
