export interface Mail {
  to: string;
  /** The message id. A message that is sent twice has the same id, so that mail programs show it once. */
  id: string;
  subject: string;
  text: string;
  /** The page where the person chooses such e-mails. Absent for those that everyone concerned gets. */
  choice?: string;
}

/** Resolves when the mail server has taken the message. */
export type SendMail = (mail: Mail) => Promise<void>;

interface Settings {
  /** The URL of the mail server with credentials. It begins with `smtp://` or `smtps://`. */
  url: string;
  from: string;
  baseUrl: string;
}

const timeoutMs = 10_000;

/** Returns a function that sends e-mails. The library is loaded with the first e-mail. */
export function createMailer({ url, from, baseUrl }: Settings): SendMail {
  const host = new URL(baseUrl).hostname;
  let transport: Promise<{ sendMail(message: object): Promise<unknown> }> | undefined;

  const connect = async () => {
    const { createTransport } = await import('nodemailer');
    const address = new URL(url);
    // The library reads its settings from the query of the URL. By default, it would wait for minutes.
    for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout'])
      if (!address.searchParams.has(name)) address.searchParams.set(name, String(timeoutMs));
    return createTransport(address.href);
  };

  return async ({ to, id, subject, text, choice }) => {
    transport ??= connect();
    const mailer = await transport;
    await mailer.sendMail({
      from,
      // An object is a single address. The library would split a string at commas.
      to: { name: '', address: to },
      messageId: `<${id}@${host}>`,
      subject,
      text,
      headers: { 'auto-submitted': 'auto-generated' },
      ...(choice === undefined ? {} : { list: { unsubscribe: { url: choice, comment: 'Choose' } } }),
      // The message has no attachments, so the library never needs to read a file or a URL.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
}
