import { SMTPServer } from 'smtp-server';

/** A mail server that keeps the mails that it receives, or refuses them after `away(true)`. */
export async function startMailServer() {
  const mails: { to: string[]; text: string; login: string | undefined }[] = [];
  let isAway = false;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, callback) {
      const isRight = username === 'svc' && password === 'pass word';
      callback(isRight ? null : new Error('wrong password'), { user: username ?? '' });
    },
    onRcptTo(_address, _session, callback) {
      callback(isAway ? new Error('mailbox is away') : null);
    },
    onData(stream, session, callback) {
      let text = '';
      stream.on('data', (part: Buffer) => {
        text += part.toString('utf8');
      });
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text, login: session.user as string | undefined });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as { port: number };
  return {
    mails,
    url: `smtp://svc:pass%20word@127.0.0.1:${port}`,
    away(is: boolean) {
      isAway = is;
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;
